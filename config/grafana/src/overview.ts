// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The first look: which services wait for locks, for which, and what mending would gain.

import { RowBuilder, type DashboardBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { dashboard, goto, stat, stacked, table, timeseries, traces, variable } from './panels.js';

const job = 'job=~"$job"';

export function overview(): DashboardBuilder {
  return dashboard('weft-overview', 'Weft / Overview', 'Why the threads of the JVMs wait, and what it would be worth to fix it.')
    .withVariable(variable('job', 'Service', 'weft_thread_time_seconds_total, job').multi(true).includeAll(true))
    .withPanel(stat(
      { title: 'Deadlocked threads', description: 'Now. They will not go on by themselves.', unit: 'short' },
      `sum(weft_deadlocked_threads{${job}})`,
    ))
    .withPanel(stat(
      { title: 'Stuck threads', description: 'Blocked now, for longer than stuck_after of the connector.', unit: 'short' },
      `sum(weft_thread_stuck{${job}, weft_state!="deadlocked"})`,
    ))
    .withPanel(stat(
      { title: 'Threads blocked, on average', description: 'Seconds blocked per second, over five minutes.', unit: 'short' },
      `sum(job:weft_blocked_threads:rate5m{${job}})`,
    ))
    .withPanel(stat(
      { title: 'Events lost per second', description: 'Above zero, all other figures are too small.', unit: 'cps' },
      `sum(job:weft_events_lost:rate5m{${job}})`,
    ))
    .withRow(new RowBuilder('Which lock?'))
    .withPanel(table(
      {
        title: 'Locks, by what mending them would gain', unit: 's',
        description: 'Saved: seconds that each second of the slowest threads would be shorter by if nobody had to queue for locks of the class.',
      },
      { job: 'Service', weft_lock_class: 'Lock' },
      {
        'Saved per second': `topk(20, job_lock:weft_saved:rate5m{${job}} > 0)`,
        'Threads blocked': `job_lock:weft_blocked_threads:rate5m{${job}} > 0`,
        'p99 blocked': `job_lock:weft_blocked_duration_seconds:p99_5m{${job}} > 0`,
        'Contentions per second': `job_lock:weft_contentions:rate5m{${job}} > 0`,
      },
    )
      .overrideByName('Threads blocked', [{ id: 'unit', value: 'short' }])
      .overrideByName('Contentions per second', [{ id: 'unit', value: 'cps' }])
      .dataLinks([
        goto('This lock', '/d/weft-lock?var-job=${__data.fields.Service:percentencode}&var-lock=${__data.fields.Lock:percentencode}&${__url_time_range}'),
      ]))
    .withRow(new RowBuilder('Which service?'))
    .withPanel(timeseries(
      { title: 'Share of time blocked', description: 'Of the time in which threads run or want to.', unit: 'percentunit' },
      { expr: `job:weft_blocked:ratio_rate5m{${job}}`, legend: '{{job}}' },
    ).dataLinks([traces('Blocked spans of this service', '{resource.service.name="${__field.labels.job}" && span.weft.state="blocked"}')]))
    .withPanel(timeseries(
      { title: 'Share of the critical path that is due to a lock', description: 'Of what the slowest threads wait and work through.', unit: 'percentunit' },
      { expr: `topk(10, job_lock:weft_critical_path:ratio_rate5m{${job}})`, legend: '{{job}}: {{weft_lock_class}}' },
    ))
    .withPanel(timeseries(
      { title: 'Threads blocked, by lock', description: 'On average: seconds blocked per second.', unit: 'short' },
      { expr: `topk(10, job_lock:weft_blocked_threads:rate5m{${job}})`, legend: '{{job}}: {{weft_lock_class}}' },
    ))
    .withPanel(stacked(
      { title: 'What threads do', description: 'Threads in each state, on average.', unit: 'short' },
      { expr: `sum by (weft_state) (rate(weft_thread_time_seconds_total{${job}}[$__rate_interval]))`, legend: '{{weft_state}}' },
    ))
    .withRow(new RowBuilder('What must not be missed'))
    .withPanel(timeseries(
      { title: 'Lost notifies', description: 'Waits that timed out although a notify on their object had been called.', unit: 'short' },
      { expr: `sum by (job, weft_lock_class, weft_lost_notify_reason) (increase(weft_wait_lost_notifies_total{${job}}[5m]))`, legend: '{{job}}: {{weft_lock_class}}, {{weft_lost_notify_reason}}' },
    ))
    .withPanel(timeseries(
      { title: 'Locks taken in both orders', description: 'No deadlock yet: two threads that do it at the same moment will be one.', unit: 'short' },
      { expr: `sum by (job, weft_lock_order_first, weft_lock_order_second) (weft_lock_order_hints_total{${job}})`, legend: '{{job}}: {{weft_lock_order_first}} / {{weft_lock_order_second}}' },
    ));
}
