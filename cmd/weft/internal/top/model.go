// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"context"
	"regexp"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/weft-otel/weft/internal/page"
)

// patience is how long the requests of one refresh may take. The page itself refuses requests after 20 s.
const patience = 25 * time.Second

// model is the state of the screen. Only the loop of the program changes it; requests run in other goroutines, one at a time.
type model struct {
	ctx     context.Context //nolint:containedctx // of the requests that commands send
	client  *page.Client
	session string
	opts    Options
	zone    *time.Location
	clock   func() time.Time
	paint   painter

	width, height int
	tab           int
	window        time.Duration
	kinds         int // index into kinds
	idle          bool
	paused        bool
	touched       bool // a key was pressed: notes were seen
	sorting       [tabCount]sorting
	filter        filter
	pane          *pane

	data    snapshot
	table   table // of the tab, filtered and sorted
	natural []int // widths of its columns
	cursor  int
	top     int // first row on the screen
	all     int // rows before the filter

	busy    bool // a request is under way
	since   time.Time
	due     bool // a refresh is wanted
	opening *pane
	problem string // of the last request
}

// filter chooses rows.
type filter struct {
	text    string
	pattern *regexp.Regexp // the last valid one; nil: all rows
	wrong   string         // why the text is not a pattern
	editing bool
}

type (
	tickMsg   time.Time
	loadedMsg struct {
		data snapshot
		err  error
	}
	openedMsg struct{ pane *pane }
)

func newModel(ctx context.Context, c *page.Client, session string, opts Options) *model {
	return &model{
		ctx: ctx, client: c, session: session, opts: opts, zone: time.Local, clock: time.Now, paint: true, width: 80, height: 24,
		window: opts.Window, sorting: firstSorting,
	}
}

func (m *model) kind() string { return kinds[m.kinds] }

func (m *model) loadedRows() int { return m.all }

// Init requests the first answer.
func (m *model) Init() tea.Cmd {
	m.due = true
	return tea.Batch(m.next(), m.tick())
}

func (m *model) tick() tea.Cmd {
	return tea.Tick(m.opts.Interval, func(t time.Time) tea.Msg { return tickMsg(t) })
}

// Update reacts to a message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		if msg.Width != m.width {
			m.natural = nil
		}
		m.width, m.height = max(0, msg.Width), max(0, msg.Height)
		m.rebuild()
	case tickMsg:
		m.due = m.due || !m.paused && !m.busy
		return m, tea.Batch(m.next(), m.tick())
	case loadedMsg:
		m.loaded(msg)
	case openedMsg:
		m.busy = false
		if m.pane == msg.pane.waits {
			m.pane = msg.pane
		}
	case tea.PasteMsg:
		if m.filter.editing {
			m.typed(msg.Content)
		}
	case tea.KeyPressMsg:
		m.touched = true
		if cmd := m.key(msg); cmd != nil {
			return m, cmd
		}
	}
	m.move(0) // a note may have appeared
	cmd := m.next()
	return m, cmd
}

func (m *model) loaded(msg loadedMsg) {
	m.busy, m.problem = false, ""
	switch {
	case msg.err != nil:
		m.problem = msg.err.Error()
	case msg.data.failed != nil:
		m.problem = msg.data.failed.Error()
	}
	if msg.err == nil {
		m.data = msg.data
		m.rebuild()
	}
}

// next sends the next request if none is under way.
func (m *model) next() tea.Cmd {
	switch {
	case m.busy:
		return nil
	case m.opening != nil:
		p := m.opening
		m.opening, m.busy, m.since = nil, true, m.clock()
		ctx, client, session, data := m.ctx, m.client, m.session, m.data
		return func() tea.Msg {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			return openedMsg{p.load(ctx, client, session, &data)}
		}
	case m.due:
		m.due, m.busy, m.since = false, true, m.clock()
		ctx, client, session, data, w, now := m.ctx, m.client, m.session, m.data, m.want(), m.since
		return func() tea.Msg {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			data, err := load(ctx, client, session, data, w, now)
			return loadedMsg{data, err}
		}
	}
	return nil
}

func (m *model) want() want {
	w := want{tab: m.tab, window: m.window, kind: m.kind(), idle: m.idle}
	by := m.sorting[m.tab]
	if by.column == asServed {
		return w
	}
	if w.sort = tabColumns[m.tab][by.column].field; w.sort != "" {
		w.order = map[bool]string{true: "desc", false: "asc"}[by.descends(tabColumns[m.tab])]
	}
	return w
}

// rebuild makes the table of the tab from the data. The cursor stays on its row.
func (m *model) rebuild() {
	selected := ""
	if m.cursor < len(m.table.rows) {
		selected = m.table.rows[m.cursor].key
	}
	m.table = m.data.table(m.tab, m.zone)
	if m.pending() && m.tab == waitsTab { // rows of another kind
		m.table.rows = nil
	}
	m.all = len(m.table.rows)
	m.table.sort(m.sorting[m.tab])
	m.table.keep(m.filter.pattern)
	if len(m.natural) != len(m.table.columns) {
		m.natural = nil
	}
	m.natural = m.table.natural(m.natural)
	if i := slices.IndexFunc(m.table.rows, func(r row) bool { return r.key == selected }); i >= 0 && m.cursor > 0 {
		m.cursor = i
	}
	m.move(0)
}

// move moves the cursor, and scrolls so that it is on the screen.
func (m *model) move(by int) {
	m.cursor = max(0, min(m.cursor+by, len(m.table.rows)-1))
	body := max(1, m.body())
	m.top = max(m.cursor-body+1, min(m.top, m.cursor))
	m.top = max(0, min(m.top, len(m.table.rows)-body))
}

// pending reports whether the table of the tab was not loaded yet.
func (m *model) pending() bool {
	if m.tab == waitsTab {
		return m.data.callers.Kind != m.kind()
	}
	return !m.data.loaded || m.data.asked.tab != m.tab
}
