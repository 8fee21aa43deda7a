package doctext

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"strings"
	"testing"
)

// pdfOf writes objects, numbered from 1, as a PDF.
func pdfOf(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	for i, o := range objects {
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	b.WriteString("trailer\n<</Root 1 0 R>>\n%%EOF\n")
	return b.Bytes()
}

func streamOf(entries, body string) string {
	return fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", entries, len(body), body)
}

func deflated(s string) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write([]byte(s))
	_ = z.Close()
	return b.String()
}

// onePage is a PDF with one page that shows content in the font.
func onePage(content, font string) []byte {
	return pdfOf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F 5 0 R>>/XObject<</X 4 0 R/Y 6 0 R>>>>>>", content, font)
}

const helvetica = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"

func TestPDF(t *testing.T) {
	cmap := "/CIDInit /ProcSet findresource begin 1 beginbfchar <0003> <0020> endbfchar 2 beginbfrange <0010> <0012> <0041> <0020> <0021> [<8336> <D83CDF75>] endbfrange"
	inside := "7 0 8 42 " + "<</Type/Font/Subtype/Type1/BaseFont/Times>>" + "<</A 1>>"
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"plain", onePage(streamOf("", "BT /F 12 Tf 72 700 Td (Green \\(tea\\) caf\\351) Tj ET"), helvetica), "Green (tea) café"},
		{"lines", onePage(streamOf("", "BT /F 12 Tf 14 TL 72 700 Td (one) Tj T* (two) Tj 0 -40 Td (three) Tj ET"), helvetica), "one\ntwo\n\nthree"},
		{"kerned words", onePage(streamOf("", "BT /F 10 Tf [(Sen) 20 (cha) -400 (tea)] TJ ET"), helvetica), "Sencha tea"},
		{"deflated", onePage(streamOf("/Filter/FlateDecode", deflated("BT /F 12 Tf <48656C6C6F> Tj ET")), helvetica), "Hello"},
		{"cut short", onePage(streamOf("/Filter/FlateDecode", deflated("BT /F 12 Tf (Hello) Tj ET")[:30]), helvetica), "Hello"},
		{"unicode", pdfOf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]>>",
			"<</Type/Page/Contents[4 0 R]/Resources<</Font<</F 5 0 R>>>>>>", streamOf("", "BT /F 12 Tf <00100011001200030020 0021> Tj ET"),
			"<</Type/Font/Subtype/Type0/Encoding/Identity-H/ToUnicode 6 0 R>>", streamOf("", cmap)), "ABC 茶🍵"},
		{"differences", onePage(streamOf("", "BT /F 12 Tf (\\001\\002ne \\003t\\004) Tj ET"),
			"<</Type/Font/Subtype/Type1/Encoding<</Differences[1/f/fi/Eacute/uni8336]>>>>"), "ffine Ét茶"},
		{"form", pdfOf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Resources<</Font<</F 5 0 R>>/XObject<</X 6 0 R>>>>/Kids[3 0 R]>>",
			"<</Type/Page/Contents 4 0 R>>", streamOf("", "/X Do"), helvetica, streamOf("/Subtype/Form", "BT /F 9 Tf (in a form) Tj ET")), "in a form"},
		{"object stream", pdfOf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]>>",
			"<</Type/Page/Contents 4 0 R/Resources<</Font<</F 7 0 R>>>>>>", streamOf("", "BT /F 9 Tf (packed) Tj ET"), "null",
			streamOf("/Type/ObjStm/N 2/First 9/Filter/FlateDecode", deflated(inside))), "packed"},
		{"no tree", []byte("%PDF-1.7\n3 0 obj<</Type/Page/Contents 4 0 R/Resources<</Font<</F<</Subtype/Type1>>>>>>>>endobj 4 0 obj<<>>stream\nBT /F 9 Tf (lost) Tj ET"), "lost"},
	} {
		doc, err := Read(t.Context(), PDF, c.data)
		if err != nil || len(doc.Pages) != 1 || doc.Pages[0].Text != c.want {
			t.Errorf("%s: %+v, %v; want %q", c.name, doc, err, c.want)
		}
	}
}

// TestHostilePDF: files made to hang or exhaust a reader are read to an end.
func TestHostilePDF(t *testing.T) {
	for name, data := range map[string][]byte{
		"deep":         onePage(streamOf("", "BT "+strings.Repeat("[", 3_000_000)), helvetica),
		"page cycle":   pdfOf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[2 0 R 2 0 R]/Count 1000000000>>"),
		"parent cycle": pdfOf("<</Type/Catalog/Pages 2 0 R>>", "<</Kids[3 0 R]>>", "<</Type/Page/Parent 3 0 R/Contents 3 0 R/Resources 3 0 R/Font 3 0 R>>"),
		"form cycle": pdfOf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Resources<</XObject<</X 4 0 R>>>>/Kids[3 0 R]>>",
			"<</Type/Page/Contents 4 0 R>>", streamOf("/Subtype/Form", strings.Repeat("/X Do ", 1000))),
		"length cycle": pdfOf("<</Length 1 0 R>>\nstream\nendstream", "2 0 R", "3 0 R"),
		"bomb":         onePage(streamOf("/Filter[/FlateDecode/FlateDecode]", deflated(deflated(strings.Repeat(" ", 34<<20)))), helvetica),
		"no end":       []byte("%PDF-1.4\n" + strings.Repeat("1 0 obj (", 20_000)),
		"numbers":      []byte("%PDF-1.4\n" + strings.Repeat("99999999999999999999 0 obj -1 0 obj <</Root 1 0 R>>", 1000)),
		"codes": onePage(streamOf("", strings.Repeat("/F 1 Tf ", 100_000)),
			"<</Subtype/Type0/ToUnicode 4 0 R/DescendantFonts[<</W[0 1000000000 5]>>]>>"),
		"object stream": pdfOf(streamOf("/Type/ObjStm/N 1000000000/First 3", "1 1 1")),
		"encrypted":     []byte("%PDF-1.4\n1 0 obj<<>>endobj trailer<</Encrypt 2 0 R>>"),
		"empty":         []byte("%PDF-"),
	} {
		w := &writer{}
		if err := readPDF(t.Context(), data, w, 200_000); err == nil && !w.full && len(w.pages) > 1 {
			t.Errorf("%s: %d pages", name, len(w.pages))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, PDF, onePage(streamOf("", "BT /F 1 Tf (x) Tj"), helvetica)); err == nil {
		t.Error("a call that was cancelled gives text")
	}
}

// zipOf writes name and content in turn.
func zipOf(t testing.TB, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.Create(parts[i])
		if err == nil {
			_, err = w.Write([]byte(parts[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func shown(d Document) string {
	var b strings.Builder
	for _, p := range d.Pages {
		fmt.Fprintf(&b, "[%s]%s", p.Name, p.Text)
	}
	return b.String()
}

func TestOffice(t *testing.T) {
	for _, c := range []struct {
		kind  Kind
		parts []string
		want  string
	}{
		{Docx, []string{"word/document.xml", `<w:document><w:body><w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Tea</w:t></w:r></w:p>` +
			`<w:p><w:r><w:t xml:space="preserve">Green </w:t></w:r><w:r><w:t>tea &amp; co</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>` +
			`<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:body></w:document>`},
			"[]# Tea\nGreen tea & co\na \tb"},
		{Pptx, []string{"ppt/slides/slide10.xml", `<p:sld><a:p><a:r><a:t>ten</a:t></a:r></a:p></p:sld>`, "ppt/slides/slide2.xml", `<p:sld><a:p><a:r><a:t>two</a:t></a:r></a:p></p:sld>`,
			"ppt/slides/_rels/slide2.xml.rels", "<x/>"}, "[Slide 1]two[Slide 2]ten"},
		{Xlsx, []string{
			"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Target="/xl/worksheets/sheet2.xml"/></Relationships>`,
			"xl/workbook.xml", `<workbook><sheets><sheet name="Prices" r:id="r1"/><sheet name="Empty" r:id="r2"/></sheets></workbook>`,
			"xl/sharedStrings.xml", `<sst><si><t>Sencha</t></si><si><r><t>Mat</t></r><r><t>cha</t></r></si></sst>`,
			"xl/worksheets/sheet1.xml", `<worksheet><sheetData><row><c r="A1" t="s"><v>0</v></c><c r="C1"><v>12.5</v></c></row>` +
				`<row><c r="A2" t="s"><v>1</v></c><c r="B2" t="inlineStr"><is><t>new</t></is></c><c r="C2" t="s"><v>99</v></c></row></sheetData></worksheet>`,
			"xl/worksheets/sheet2.xml", `<worksheet/>`,
		}, "[Prices]Sencha\t\t12.5\nMatcha\tnew[Empty]"},
		{Odt, []string{"content.xml", `<office:text><text:tracked-changes><text:p>old</text:p></text:tracked-changes><text:h text:outline-level="2">Tea</text:h><text:p>Green<text:s text:c="2"/>tea<text:line-break/>hot</text:p></office:text>`},
			"[]\n## Tea\nGreen  tea\nhot"},
		{Ods, []string{"content.xml", `<x><table:table table:name="One"><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table></x>`}, "[One]a \tb"},
		{Odp, []string{"content.xml", `<x><draw:page><text:p>first</text:p></draw:page><draw:page><text:p>second</text:p></draw:page></x>`}, "[Slide 1]first[Slide 2]second"},
	} {
		doc, err := Read(t.Context(), c.kind, zipOf(t, c.parts...))
		if got := shown(doc); err != nil || strings.ReplaceAll(got, "[]\n", "[]") != strings.ReplaceAll(c.want, "[]\n", "[]") {
			t.Errorf("%s: %q, %v; want %q", c.kind, got, err, c.want)
		}
	}
}

func TestHostileOffice(t *testing.T) {
	doc, err := Read(t.Context(), Docx, zipOf(t, "word/document.xml", "<w:p><w:t>"+strings.Repeat(" ", 34<<20)))
	if err != nil || !doc.Cut {
		t.Errorf("an archive that unpacks to 34 MB: cut %v, %v", doc.Cut, err)
	}
	doc, err = Read(t.Context(), Docx, zipOf(t, "word/document.xml", "<w:p><w:t>top</w:t>"+strings.Repeat("<a>", 100_000)))
	if err != nil || shown(doc) != "[]top" || !doc.Cut {
		t.Errorf("deep: %q, cut %v, %v", shown(doc), doc.Cut, err)
	}
	for _, data := range [][]byte{nil, []byte("PK\x03\x04"), zipOf(t, "other", "")} {
		if doc, err := Read(t.Context(), Xlsx, data); err == nil {
			t.Errorf("%q gives %+v", data, doc)
		}
	}
}

func FuzzPDF(f *testing.F) {
	f.Add(onePage(streamOf("", "BT /F 12 Tf [(Sen) 20 <41>] TJ T* /X Do ET"), helvetica))
	f.Add(onePage(streamOf("/Filter/ASCII85Decode", "87cURD]j7BEbo80~>"), "<</Subtype/Type0/ToUnicode 4 0 R/DescendantFonts[<</W[0[1 2]3 4 5]>>]>>"))
	f.Add(pdfOf("<</Type/Catalog/Pages 2 0 R>>", streamOf("/Type/ObjStm/N 1/First 4", "2 0 <</Kids[2 0 R]>>")))
	f.Fuzz(func(t *testing.T, data []byte) {
		defer func() {
			if r := recover(); r != nil {
				t.Fatal(r)
			}
		}()
		w := &writer{}
		_ = readPDF(t.Context(), data, w, 100_000) // Read would hide a panic
	})
}

func FuzzOffice(f *testing.F) {
	f.Add("word/document.xml", `<w:p><w:t>x</w:t></w:p>`)
	f.Add("content.xml", `<table:table><text:s text:c="9999999"/></table:table>`)
	f.Add("xl/workbook.xml", `<sheet name="a" r:id="b"/>`)
	f.Fuzz(func(t *testing.T, name, body string) {
		data := zipOf(t, name, body)
		for _, k := range []Kind{Docx, Xlsx, Pptx, Odt, Ods, Odp} {
			_ = readOffice(t.Context(), k, data, &writer{})
		}
	})
}
