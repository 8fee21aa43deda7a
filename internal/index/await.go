package index

import "context"

// Awaiting returns a store that calls wait before it answers. With it, whoever
// asks through a call of a tool is kept waiting until the index shows the vault
// as it was when the call began. An error of wait is the answer.
func Awaiting(s Store, wait func(context.Context) error) Store { return awaiting{s, wait} }

type awaiting struct {
	Store
	wait func(context.Context) error
}

func (a awaiting) Notes(ctx context.Context, sel Select) ([]Row, error) {
	if err := a.wait(ctx); err != nil {
		return nil, err
	}
	return a.Store.Notes(ctx, sel)
}

func (a awaiting) Match(ctx context.Context, m Match) ([]Scored, error) {
	if err := a.wait(ctx); err != nil {
		return nil, err
	}
	return a.Store.Match(ctx, m)
}

func (a awaiting) Nearest(ctx context.Context, n Near) ([]NearPassage, error) {
	if err := a.wait(ctx); err != nil {
		return nil, err
	}
	return a.Store.Nearest(ctx, n)
}

func (a awaiting) Passages(ctx context.Context, q PassageQuery) ([]Passage, error) {
	if err := a.wait(ctx); err != nil {
		return nil, err
	}
	return a.Store.Passages(ctx, q)
}

func (a awaiting) Links(ctx context.Context, q LinkQuery) ([]Link, error) {
	if err := a.wait(ctx); err != nil {
		return nil, err
	}
	return a.Store.Links(ctx, q)
}

func (a awaiting) Relations(ctx context.Context, q RelationQuery) ([]Relation, error) {
	if err := a.wait(ctx); err != nil {
		return nil, err
	}
	return a.Store.Relations(ctx, q)
}

func (a awaiting) Names(ctx context.Context, q NameQuery) ([]Name, error) {
	if err := a.wait(ctx); err != nil {
		return nil, err
	}
	return a.Store.Names(ctx, q)
}

func (a awaiting) Facets(ctx context.Context, f Facet, where Filter) ([]Count, error) {
	if err := a.wait(ctx); err != nil {
		return nil, err
	}
	return a.Store.Facets(ctx, f, where)
}

func (a awaiting) Stats(ctx context.Context, model string) (Stats, error) {
	if err := a.wait(ctx); err != nil {
		return Stats{}, err
	}
	return a.Store.Stats(ctx, model)
}

func (a awaiting) Files(ctx context.Context, yield func(File) error) error {
	if err := a.wait(ctx); err != nil {
		return err
	}
	return a.Store.Files(ctx, yield)
}
