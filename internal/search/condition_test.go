package search

import (
	"testing"

	"lore/internal/index"
)

func TestCondition(t *testing.T) {
	for text, want := range map[string]index.PropFilter{
		"status":            {Key: "status"},
		" !status ":         {Key: "status", Not: true},
		"status=open":       {Key: "status", Op: "=", Value: "open"},
		"status: in review": {Key: "status", Op: "=", Value: "in review"},
		"status != done":    {Key: "status", Op: "=", Value: "done", Not: true},
		"rating>=4":         {Key: "rating", Op: ">=", Value: "4"},
		"rating <= -4.5":    {Key: "rating", Op: "<=", Value: "-4.5"},
		"a<1":               {Key: "a", Op: "<", Value: "1"},
		"a>b=c":             {Key: "a", Op: ">", Value: "b=c"},
		"url=https://x.y":   {Key: "url", Op: "=", Value: "https://x.y"},
		"topic~'Green Tea'": {Key: "topic", Op: index.OpContains, Value: "Green Tea"},
		`x=="y z"`:          {Key: "x", Op: "=", Value: "y z"},
		"status=":           {Key: "status"},
		"status!=":          {Key: "status", Not: true},
	} {
		if got, err := Condition(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "!", "=x", ">=4", "  ~"} {
		if got, err := Condition(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
	for value, want := range map[string]index.PropFilter{
		"":       {Key: "k"},
		"open":   {Key: "k", Value: "open"},
		">=3":    {Key: "k", Op: ">=", Value: "3"},
		"!=done": {Key: "k", Op: "=", Value: "done", Not: true},
		"~tea":   {Key: "k", Op: index.OpContains, Value: "tea"},
		"!":      {Key: "k", Not: true},
		"10:30":  {Key: "k", Value: "10:30"},
	} {
		if got := PropertyValue("k", value); got != want {
			t.Errorf("%q: %+v, want %+v", value, got, want)
		}
	}
}
