package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/note/invisible"
	"lore/internal/outside/egress"
	"lore/internal/outside/webpage"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// YoutubeTranscription: Read the subtitles of a YouTube video. The text is
// untrusted.
type YoutubeTranscription struct {
	// Address or id of the video.
	URL string `json:"url" word:"true"`
	// Such as de; default the video's own.
	Language string `json:"language,omitempty"`
}

// Help is the text for people.
func (YoutubeTranscription) Help() tool.Help {
	return tool.Help{
		Short: "Read the subtitles of a YouTube video",
		Long:  "Off by default. Lore asks before it contacts YouTube. Not every video has subtitles, and YouTube does not give them to programs everywhere.",
		Flags: map[string]string{
			"url":      "address or ID of the video",
			"language": "language code, such as de (default: the video's own)",
		},
		Examples: []string{"https://www.youtube.com/watch?v=dQw4w9WgXcQ"},
	}
}

// Transcript is what is said in a video. Its text is untrusted.
type Transcript struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	// Language of the subtitles.
	Language string `json:"language"`
	// Automatic says that a program wrote them.
	Automatic bool      `json:"automatic,omitempty"`
	Segments  []Segment `json:"segments"`
	Text      string    `json:"text"`
}

// Segment is one piece of a transcript.
type Segment struct {
	// Start in seconds.
	Start float64 `json:"start"`
	Text  string  `json:"text"`
}

// youTube is where videos are.
const youTube = "https://www.youtube.com"

var videoID = regexp.MustCompile(`^[A-Za-z0-9_-]{11}$`)

// video is the address of the page of a video.
func (in YoutubeTranscription) video(env Env) (string, error) {
	wrong := fault.Field("url", "use an address such as https://www.youtube.com/watch?v=dQw4w9WgXcQ", "is not the address of a YouTube video")
	id := strings.TrimSpace(in.URL)
	if !videoID.MatchString(id) {
		u, err := url.Parse(id)
		if err != nil {
			return "", wrong
		}
		host := strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(u.Hostname()), "www."), "m.")
		parts := strings.Split(strings.Trim(u.Path, "/"), "/")
		switch {
		case host == "youtu.be":
			id = parts[0]
		case host != "youtube.com" && host != "youtube-nocookie.com" && host != "music.youtube.com":
			return "", wrong
		case u.Query().Get("v") != "":
			id = u.Query().Get("v")
		default:
			id = parts[len(parts)-1] // shorts, live, embed
		}
	}
	if !videoID.MatchString(id) {
		return "", wrong
	}
	return cmp.Or(env.YouTube, youTube) + "/watch?v=" + id, nil
}

// Foresee says which video is asked for.
func (in YoutubeTranscription) Foresee(_ context.Context, env Env) (tool.Preview, error) {
	at, err := in.video(env)
	if err != nil {
		return tool.Preview{}, err
	}
	return tool.Preview{Summary: "Read the subtitles of " + at, Details: map[string]any{"url": at, "language": in.Language}}, nil
}

// A track is one set of subtitles, as the page of a video lists it.
type track struct {
	BaseURL      string `json:"baseUrl"`
	LanguageCode string `json:"languageCode"`
	Kind         string `json:"kind"` // "asr": written by a program
}

// Run finds the subtitles and reads them.
func (in YoutubeTranscription) Run(ctx context.Context, env Env) (Transcript, change.Set, error) {
	at, err := in.video(env)
	if err != nil {
		return Transcript{}, nil, err
	}
	client, err := env.Client()
	if err != nil {
		return Transcript{}, nil, err
	}
	page, err := webpage.Fetch(ctx, client, at, true)
	if err != nil {
		return Transcript{}, nil, err
	}
	t, err := in.choose(tracks(page.Text))
	if err != nil {
		return Transcript{}, nil, err
	}
	out := Transcript{URL: at, Title: titleIn(page.Text), Language: t.LanguageCode, Automatic: t.Kind == "asr"}
	if out.Segments, err = read(ctx, client, at, t.BaseURL); err != nil {
		return Transcript{}, nil, err
	}
	var words []string
	for _, s := range out.Segments {
		words = append(words, s.Text)
	}
	out.Text = strings.Join(words, " ")
	return out, nil, nil
}

// tracks are the subtitles that a page lists.
func tracks(page string) []track {
	_, list, found := strings.Cut(page, `"captionTracks":`)
	if !found {
		return nil
	}
	var out []track
	_ = json.NewDecoder(strings.NewReader(list)).Decode(&out) // what cannot be read is no list
	return out
}

// choose is the track of a language; those that people wrote go first.
func (in YoutubeTranscription) choose(list []track) (track, error) {
	if len(list) == 0 {
		return track{}, fault.Fix(fault.NotFound, "try another video", "the video has no subtitles, or YouTube does not give them to programs here")
	}
	var have []string
	best := -1
	for i, t := range list {
		have = append(have, t.LanguageCode)
		fits := in.Language == "" || strings.EqualFold(t.LanguageCode, in.Language) || strings.HasPrefix(strings.ToLower(t.LanguageCode), strings.ToLower(in.Language)+"-")
		if fits && (best < 0 || list[best].Kind == "asr" && t.Kind != "asr") {
			best = i
		}
	}
	if best < 0 {
		return track{}, fault.Field("language", "use "+toolkit.Truncate(strings.Join(have, ", "), 200), "the video has no subtitles in %q", in.Language)
	}
	return list[best], nil
}

// read fetches the subtitles. Their address stands in a page of strangers: it must be
// of the same site.
func read(ctx context.Context, client *egress.Client, video, address string) ([]Segment, error) {
	from, err := url.Parse(video)
	if err != nil {
		return nil, err
	}
	u, err := from.Parse(address)
	if err != nil || u.Host != from.Host || u.Scheme != from.Scheme {
		return nil, fault.New(fault.Denied, "the subtitles are not on the site of the video")
	}
	q := u.Query()
	q.Set("fmt", "json3")
	u.RawQuery = q.Encode()
	p, err := webpage.Fetch(ctx, client, u.String(), true)
	if err != nil {
		return nil, err
	}
	var said struct {
		Events []struct {
			Start int `json:"tStartMs"`
			Segs  []struct {
				Text string `json:"utf8"`
			} `json:"segs"`
		} `json:"events"`
	}
	if err := json.NewDecoder(bytes.NewReader([]byte(p.Text))).Decode(&said); err != nil {
		return nil, fault.Fix(fault.Unavailable, "open the video in a browser", "YouTube did not give the subtitles to this program")
	}
	out := []Segment{}
	for _, e := range said.Events {
		var b strings.Builder
		for _, s := range e.Segs {
			b.WriteString(s.Text)
		}
		if text, _ := invisible.Strip(toolkit.OneLine(b.String())); text != "" {
			out = append(out, Segment{float64(e.Start) / 1000, text})
		}
	}
	return out, nil
}

// titleIn is the title of the page of a video.
func titleIn(page string) string {
	_, rest, _ := strings.Cut(page, "<title>")
	title, _, _ := strings.Cut(rest, "</title>")
	title, _ = invisible.Strip(toolkit.OneLine(strings.TrimSuffix(title, " - YouTube")))
	return toolkit.Truncate(title, 200)
}

// View shows the words with their times.
func (t Transcript) View() tool.View {
	var b strings.Builder
	for _, s := range t.Segments {
		fmt.Fprintf(&b, "[%d:%02d] %s\n", int(s.Start)/60, int(s.Start)%60, s.Text)
	}
	foot := t.Title + ", " + t.Language
	if t.Automatic {
		foot += ", written by a program"
	}
	return tool.View{Text: b.String(), Foot: foot}
}
