// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// How a panel of ours looks, and how its queries are written down: once, for all dashboards.

import { LegendDisplayMode, LegendPlacement, SortOrder, StackingMode, TooltipDisplayMode } from '@grafana/grafana-foundation-sdk/common';
import { StackingConfigBuilder, VizLegendOptionsBuilder, VizTooltipOptionsBuilder } from '@grafana/grafana-foundation-sdk/common';
import { DashboardBuilder, DashboardCursorSync, DashboardLinkBuilder, DashboardLinkType } from '@grafana/grafana-foundation-sdk/dashboard';
import { DatasourceVariableBuilder, QueryVariableBuilder, VariableRefresh, VariableSort } from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';

const prometheus = { type: 'prometheus', uid: '${prometheus}' };

/** Query is one line of a panel: PromQL, and what the legend calls each series. */
export interface Query {
  expr: string;
  legend: string;
}

/** about is what each panel has: what it is called, what it answers, in which of Grafana's units. */
export interface About {
  title: string;
  description: string;
  unit: string;
}

/** quantile is a quantile of a histogram, whether the collector makes buckets of it or native histograms. */
export function quantile(q: number, metric: string, selector: string): string {
  const of = (name: string, by: string): string => `histogram_quantile(${q}, sum${by} (rate(${name}{${selector}}[$__rate_interval])))`;
  return `${of(`${metric}_bucket`, ' by (le)')} or ${of(metric, '')}`;
}

const rateOf = (part: 'count' | 'sum', by: string, metric: string, selector: string): string => {
  const rate = (name: string): string => `sum by (${by}) (rate(${name}{${selector}}[$__rate_interval]))`;
  return `${rate(`${metric}_${part}`)} or histogram_${part}(${rate(metric)})`;
};

/** count is how often each second something happened that has a histogram, by labels. */
export const count = (by: string, metric: string, selector: string): string => rateOf('count', by, metric, selector);

/** sumOf is for how long it took in each second. */
export const sumOf = (by: string, metric: string, selector: string): string => rateOf('sum', by, metric, selector);

function target(query: Query, refId: string): DataqueryBuilder {
  return new DataqueryBuilder().datasource(prometheus).expr(query.expr).legendFormat(query.legend).refId(refId);
}

const refId = (i: number): string => String.fromCharCode('A'.charCodeAt(0) + i);

/** timeseries draws queries over time, with exemplars where Prometheus has them. */
export function timeseries(about: About, ...queries: Query[]): TimeseriesBuilder {
  const panel = new TimeseriesBuilder()
    .title(about.title)
    .description(about.description)
    .datasource(prometheus)
    .unit(about.unit)
    .min(0)
    .span(12)
    .height(8)
    .fillOpacity(10)
    .legend(new VizLegendOptionsBuilder().displayMode(LegendDisplayMode.Table).placement(LegendPlacement.Bottom).showLegend(true).calcs(['mean', 'max']))
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending));
  queries.forEach((query, i) => panel.withTarget(target(query, refId(i)).range().exemplar(true)));
  return panel;
}

/** stacked is a timeseries whose lines add up to something. */
export function stacked(about: About, ...queries: Query[]): TimeseriesBuilder {
  return timeseries(about, ...queries)
    .fillOpacity(60)
    .stacking(new StackingConfigBuilder().mode(StackingMode.Normal));
}

/** stat shows one number. */
export function stat(about: About, expr: string): StatBuilder {
  return new StatBuilder()
    .title(about.title)
    .description(about.description)
    .datasource(prometheus)
    .unit(about.unit)
    .noValue('none')
    .span(6)
    .height(4)
    .withTarget(target({ expr, legend: '' }, 'A').instant());
}

/** table joins instant queries by their labels: one row for each set of labels, one column for each query. */
export function table(about: About, labels: Record<string, string>, queries: Record<string, string>): TableBuilder {
  const panel = new TableBuilder().title(about.title).description(about.description).datasource(prometheus).unit(about.unit).span(24).height(9);
  const rename: Record<string, string> = { ...labels };
  Object.entries(queries).forEach(([column, expr], i) => {
    panel.withTarget(target({ expr, legend: '' }, refId(i)).instant().format(PromQueryFormat.Table));
    rename[Object.keys(queries).length === 1 ? 'Value' : `Value #${refId(i)}`] = column;
  });
  return panel
    .withTransformation({ id: 'merge', options: {} })
    .withTransformation({ id: 'organize', options: { excludeByName: { Time: true }, renameByName: rename } })
    .withTransformation({ id: 'sortBy', options: { sort: [{ field: Object.keys(queries)[0], desc: true }] } });
}

/** traces is a link that opens the spans of a TraceQL query over the time that a panel shows. */
export function traces(title: string, traceql: string): DashboardLinkBuilder {
  const pane = {
    datasource: '${tempo}',
    queries: [{ refId: 'A', datasource: { type: 'tempo', uid: '${tempo}' }, queryType: 'traceql', query: traceql, limit: 20 }],
    range: { from: '${__from}', to: '${__to}' },
  };
  return new DashboardLinkBuilder(title).type(DashboardLinkType.Link).targetBlank(true).url(`/explore?schemaVersion=1&panes=${encode({ a: pane })}`);
}

// Grafana replaces its variables in a link before anything else, so these have to stay as they are.
function encode(panes: unknown): string {
  return encodeURIComponent(JSON.stringify(panes)).replace(/%24%7B(\w+)%7D/g, '${$1}');
}

/** goto is a link to another dashboard of ours. */
export function goto(title: string, path: string): DashboardLinkBuilder {
  return new DashboardLinkBuilder(title).type(DashboardLinkType.Link).url(path);
}

/** variable is one that is chosen from the values of a label. */
export function variable(name: string, label: string, metric: string): QueryVariableBuilder {
  return new QueryVariableBuilder(name)
    .label(label)
    .datasource(prometheus)
    .query({ query: `label_values(${metric})`, refId: name })
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc);
}

/** dashboard is an empty one with what all have. */
export function dashboard(uid: string, title: string, description: string): DashboardBuilder {
  return new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags(['weft', 'jvm', 'locks'])
    .time({ from: 'now-30m', to: 'now' })
    .timezone('browser')
    .refresh('30s')
    .tooltip(DashboardCursorSync.Crosshair)
    .withVariable(new DatasourceVariableBuilder('prometheus').label('Prometheus').type('prometheus'))
    .withVariable(new DatasourceVariableBuilder('tempo').label('Traces').type('tempo'))
    .link(new DashboardLinkBuilder('Weft').type(DashboardLinkType.Dashboards).tags(['weft']).asDropdown(true).keepTime(true).includeVars(true));
}
