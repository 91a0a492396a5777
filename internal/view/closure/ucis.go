package closure

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"time"
)

// ucis writes the XML interchange format of UCIS 1.0: a covergroup instance a group, a coverpoint for each kind in it, a bin an item. A run is a history node; a bin
// names those that have seen it.
func (s *Summary) ucis(w io.Writer, d *Document) error {
	written := int64(0)
	doc := ucisDocument{
		Version: "1.0", By: "ibwitness", Sources: []ucisSource{{ItemsFile, 1}},
		Instance: ucisInstance{Name: "ibwitness", Key: "ibwitness", Module: "ibwitness", ID: ucisID{1, 1, 1}},
	}
	for i := range d.Runs {
		r := &d.Runs[i]
		written = max(written, r.Last)
		doc.History = append(doc.History, ucisHistory{
			ID: i, Name: s.Names[i], Kind: "Test", Passed: r.Errors == 0, SimTime: fmt.Sprintf("%d", max(r.Last-r.First, 0)), Unit: "ns", Date: stamp(r.First),
			Category: "simulation", Version: "1.0", Vendor: "ibwitness", Tool: "ibwitness", ToolVersion: fmt.Sprint(Version),
		})
	}
	doc.Written = stamp(written)
	cover := &doc.Instance.Cover
	var group *ucisGroup
	var point *ucisPoint
	targets := append(append([]Target(nil), s.Targets...), s.Excluded...)
	of := map[string]*ucisGroup{}
	points := map[string]*ucisPoint{}
	for i := range targets {
		t := &targets[i]
		g := t.Group()
		if group = of[g]; group == nil {
			group = &ucisGroup{Name: g, Key: fmt.Sprint(len(cover.Groups)), ID: ucisGroupID{g, "ibwitness", ucisID{1, 1, 1}, ucisID{1, 1, 1}}}
			of[g] = group
			cover.Groups = append(cover.Groups, group)
		}
		name, value := g, t.Name
		if t.Item != nil {
			name, value = t.Item.Kind, t.Item.Value
			if t.Item.Service != "" {
				name = t.Item.Service + " " + name
			}
		}
		least := max(t.Goal, 1)
		key := fmt.Sprintf("%s/%s/%d", g, name, least)
		if point = points[key]; point == nil {
			point = &ucisPoint{Name: name, Key: fmt.Sprint(len(group.Points)), Options: ucisOptions{least}}
			points[key] = point
			group.Points = append(group.Points, point)
		}
		kind := "bins"
		if t.Reason != "" {
			kind = "ignore"
		}
		n := len(point.Bins)
		bin := ucisBin{Name: value, Key: fmt.Sprint(n), Alias: t.Name, Kind: kind, Range: ucisRange{n, n, ucisContents{Count: t.Count.Count, Runs: t.Runs}}}
		if t.Reason != "" {
			bin.Attrs = append(bin.Attrs, ucisAttr{"reason", "str", t.Reason})
		}
		if t.Violated > 0 {
			bin.Attrs = append(bin.Attrs, ucisAttr{"violated", "str", fmt.Sprint(t.Violated)})
		}
		point.Bins = append(point.Bins, bin)
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	enc := xml.NewEncoder(&b)
	enc.Indent("", " ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := w.Write(b.Bytes())
	return err
}

// stamp is a time as xsd:dateTime has it.
func stamp(ns int64) string { return time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05Z") }

type ucisDocument struct {
	XMLName  xml.Name      `xml:"UCIS"`
	Version  string        `xml:"ucisVersion,attr"`
	By       string        `xml:"writtenBy,attr"`
	Written  string        `xml:"writtenTime,attr"`
	Sources  []ucisSource  `xml:"sourceFiles"`
	History  []ucisHistory `xml:"historyNodes"`
	Instance ucisInstance  `xml:"instanceCoverages"`
}

type ucisSource struct {
	File string `xml:"fileName,attr"`
	ID   int    `xml:"id,attr"`
}

type ucisHistory struct {
	ID          int    `xml:"historyNodeId,attr"`
	Name        string `xml:"logicalName,attr"`
	Kind        string `xml:"kind,attr"`
	Passed      bool   `xml:"testStatus,attr"`
	SimTime     string `xml:"simtime,attr"`
	Unit        string `xml:"timeunit,attr"`
	Date        string `xml:"date,attr"`
	Category    string `xml:"toolCategory,attr"`
	Version     string `xml:"ucisVersion,attr"`
	Vendor      string `xml:"vendorId,attr"`
	Tool        string `xml:"vendorTool,attr"`
	ToolVersion string `xml:"vendorToolVersion,attr"`
}

type ucisID struct {
	File   int `xml:"file,attr"`
	Line   int `xml:"line,attr"`
	Inline int `xml:"inlineCount,attr"`
}

type ucisInstance struct {
	Name   string    `xml:"name,attr"`
	Key    string    `xml:"key,attr"`
	Module string    `xml:"moduleName,attr"`
	ID     ucisID    `xml:"id"`
	Cover  ucisCover `xml:"covergroupCoverage"`
}

type ucisCover struct {
	Groups []*ucisGroup `xml:"cgInstance"`
}

type ucisGroup struct {
	Name    string       `xml:"name,attr"`
	Key     string       `xml:"key,attr"`
	Options struct{}     `xml:"options"`
	ID      ucisGroupID  `xml:"cgId"`
	Points  []*ucisPoint `xml:"coverpoint"`
}

type ucisGroupID struct {
	Name     string `xml:"cgName,attr"`
	Module   string `xml:"moduleName,attr"`
	Instance ucisID `xml:"cginstSourceId"`
	Source   ucisID `xml:"cgSourceId"`
}

type ucisPoint struct {
	Name    string      `xml:"name,attr"`
	Key     string      `xml:"key,attr"`
	Options ucisOptions `xml:"options"`
	Bins    []ucisBin   `xml:"coverpointBin"`
}

type ucisOptions struct {
	AtLeast uint64 `xml:"at_least,attr"`
}

type ucisBin struct {
	Name  string     `xml:"name,attr"`
	Key   string     `xml:"key,attr"`
	Alias string     `xml:"alias,attr"`
	Kind  string     `xml:"type,attr"`
	Range ucisRange  `xml:"range"`
	Attrs []ucisAttr `xml:"userAttr"`
}

type ucisRange struct {
	From     int          `xml:"from,attr"`
	To       int          `xml:"to,attr"`
	Contents ucisContents `xml:"contents"`
}

type ucisContents struct {
	Count uint64 `xml:"coverageCount,attr"`
	Runs  []int  `xml:"historyNodeId"`
}

type ucisAttr struct {
	Key   string `xml:"key,attr"`
	Type  string `xml:"type,attr"`
	Value string `xml:",chardata"`
}
