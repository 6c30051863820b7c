// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The overview: which services wait for which locks, and what fixing them would save.

import { RowBuilder, type DashboardBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { dashboard, goto, stat, stacked, table, timeseries, traces, variable } from './panels.js';

const job = 'job=~"$job"';

export function overview(): DashboardBuilder {
  return dashboard('weft-overview', 'Weft / Overview', 'Why JVM threads wait, and what fixing it would save.')
    .withVariable(variable('job', 'Service', 'weft_thread_time_seconds_total, job').multi(true).includeAll(true))
    .withPanel(stat(
      { title: 'Deadlocked threads', description: 'Threads in a deadlock now. They never continue by themselves.', unit: 'short' },
      `sum(weft_deadlocked_threads{${job}})`,
    ))
    .withPanel(stat(
      { title: 'Stuck threads', description: 'Threads blocked for longer than stuck_after of the connector.', unit: 'short' },
      `sum(weft_thread_stuck{${job}, weft_state!="deadlocked"})`,
    ))
    .withPanel(stat(
      { title: 'Blocked threads, average', description: 'Seconds blocked per second over five minutes.', unit: 'short' },
      `sum(job:weft_blocked_threads:rate5m{${job}})`,
    ))
    .withPanel(stat(
      { title: 'Events lost per second', description: 'Above zero, all other values are too low.', unit: 'cps' },
      `sum(job:weft_events_lost:rate5m{${job}})`,
    ))
    .withRow(new RowBuilder('Locks'))
    .withPanel(table(
      {
        title: 'Locks by potential saving', unit: 's',
        description: 'Saved per second: how much of each second the slowest threads would save if no thread had to wait for locks of the class.',
      },
      { job: 'Service', weft_lock_class: 'Lock' },
      {
        'Saved per second': `topk(20, job_lock:weft_saved:rate5m{${job}} > 0)`,
        'Blocked threads': `job_lock:weft_blocked_threads:rate5m{${job}} > 0`,
        'p99 wait': `job_lock:weft_blocked_duration_seconds:p99_5m{${job}} > 0`,
        'Contentions per second': `job_lock:weft_contentions:rate5m{${job}} > 0`,
      },
    )
      .overrideByName('Blocked threads', [{ id: 'unit', value: 'short' }])
      .overrideByName('Contentions per second', [{ id: 'unit', value: 'cps' }])
      .dataLinks([
        goto('Show this lock', '/d/weft-lock?var-job=${__data.fields.Service:percentencode}&var-lock=${__data.fields.Lock:percentencode}&${__url_time_range}'),
      ]))
    .withRow(new RowBuilder('Services'))
    .withPanel(timeseries(
      { title: 'Share of time blocked', description: 'Share of the time that threads run or wait to run.', unit: 'percentunit' },
      { expr: `job:weft_blocked:ratio_rate5m{${job}}`, legend: '{{job}}' },
    ).dataLinks([traces('Blocked spans of this service', '{resource.service.name="${__field.labels.job}" && span.weft.wait.kind=~"lock|permit|pool"}')]))
    .withPanel(timeseries(
      { title: 'Share of the critical path by lock', description: 'Share of the time on the critical paths of the slowest threads.', unit: 'percentunit' },
      { expr: `topk(10, job_lock:weft_critical_path:ratio_rate5m{${job}})`, legend: '{{job}}: {{weft_lock_class}}' },
    ))
    .withPanel(timeseries(
      { title: 'Blocked threads by lock', description: 'Average: seconds blocked per second.', unit: 'short' },
      { expr: `topk(10, job_lock:weft_blocked_threads:rate5m{${job}})`, legend: '{{job}}: {{weft_lock_class}}' },
    ))
    .withPanel(stacked(
      { title: 'Threads by state', description: 'Average number of threads in each state.', unit: 'short' },
      { expr: `sum by (weft_state) (rate(weft_thread_time_seconds_total{${job}}[$__rate_interval]))`, legend: '{{weft_state}}' },
    ))
    .withRow(new RowBuilder('Potential bugs'))
    .withPanel(timeseries(
      { title: 'Lost notifies', description: 'Calls of notify that no thread heard, although one then waited in vain.', unit: 'short' },
      { expr: `sum by (job, weft_lock_class) (increase(weft_wait_lost_notifies_total{${job}}[5m]))`, legend: '{{job}}: {{weft_lock_class}}' },
    ))
    .withPanel(timeseries(
      { title: 'Inconsistent lock order', description: 'Locks acquired in both orders: a potential deadlock if two threads do so at the same time.', unit: 'short' },
      { expr: `sum by (job, weft_lock_order_first, weft_lock_order_second) (weft_lock_order_hints_total{${job}})`, legend: '{{job}}: {{weft_lock_order_first}} / {{weft_lock_order_second}}' },
    ));
}
