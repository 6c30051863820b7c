// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The panels and queries that all dashboards share.

import { LegendDisplayMode, LegendPlacement, SortOrder, StackingMode, TooltipDisplayMode } from '@grafana/grafana-foundation-sdk/common';
import { StackingConfigBuilder, VizLegendOptionsBuilder, VizTooltipOptionsBuilder } from '@grafana/grafana-foundation-sdk/common';
import { DashboardBuilder, DashboardCursorSync, DashboardLinkBuilder, DashboardLinkType } from '@grafana/grafana-foundation-sdk/dashboard';
import { DatasourceVariableBuilder, QueryVariableBuilder, VariableRefresh, VariableSort } from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';

const prometheus = { type: 'prometheus', uid: '${prometheus}' };

/** Query is a PromQL query of a panel and the legend of its series. */
export interface Query {
  expr: string;
  legend: string;
}

/** About describes a panel; the unit is one of Grafana. */
export interface About {
  title: string;
  description: string;
  unit: string;
}

/** quantile computes a quantile of a classic or native histogram. */
export function quantile(q: number, metric: string, selector: string): string {
  const of = (name: string, by: string): string => `histogram_quantile(${q}, sum${by} (rate(${name}{${selector}}[$__rate_interval])))`;
  return `${of(`${metric}_bucket`, ' by (le)')} or ${of(metric, '')}`;
}

const rateOf = (part: 'count' | 'sum', by: string, metric: string, selector: string): string => {
  const rate = (name: string): string => `sum by (${by}) (rate(${name}{${selector}}[$__rate_interval]))`;
  return `${rate(`${metric}_${part}`)} or histogram_${part}(${rate(metric)})`;
};

/** count is the rate of observations of a histogram per second, by labels. */
export const count = (by: string, metric: string, selector: string): string => rateOf('count', by, metric, selector);

/** sumOf is the rate of the sum of a histogram per second, by labels. */
export const sumOf = (by: string, metric: string, selector: string): string => rateOf('sum', by, metric, selector);

function target(query: Query, refId: string): DataqueryBuilder {
  return new DataqueryBuilder().datasource(prometheus).expr(query.expr).legendFormat(query.legend).refId(refId);
}

const refId = (i: number): string => String.fromCharCode('A'.charCodeAt(0) + i);

/** timeseries plots queries over time, with exemplars if Prometheus has them. */
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

/** stacked is a timeseries with stacked lines. */
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

/** table joins instant queries by their labels: one row per set of labels, one column per query. */
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

/** traces links to the spans of a TraceQL query over the time range of the panel. */
export function traces(title: string, traceql: string): DashboardLinkBuilder {
  const pane = {
    datasource: '${tempo}',
    queries: [{ refId: 'A', datasource: { type: 'tempo', uid: '${tempo}' }, queryType: 'traceql', query: traceql, limit: 20 }],
    range: { from: '${__from}', to: '${__to}' },
  };
  return new DashboardLinkBuilder(title).type(DashboardLinkType.Link).targetBlank(true).url(`/explore?schemaVersion=1&panes=${encode({ a: pane })}`);
}

// Grafana replaces variables in a link before it decodes the link, so variables must not be encoded.
function encode(panes: unknown): string {
  return encodeURIComponent(JSON.stringify(panes)).replace(/%24%7B(\w+)%7D/g, '${$1}');
}

/** goto links to another dashboard of Weft. */
export function goto(title: string, path: string): DashboardLinkBuilder {
  return new DashboardLinkBuilder(title).type(DashboardLinkType.Link).url(path);
}

/** variable is selected from the values of a label. */
export function variable(name: string, label: string, metric: string): QueryVariableBuilder {
  return new QueryVariableBuilder(name)
    .label(label)
    .datasource(prometheus)
    .query({ query: `label_values(${metric})`, refId: name })
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc);
}

/** dashboard returns an empty dashboard with the common settings. */
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
