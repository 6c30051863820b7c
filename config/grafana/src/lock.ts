// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// One class of locks: who has to wait for it, for how long, and what its holders do meanwhile.

import { RowBuilder, type DashboardBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { count, dashboard, quantile, stacked, stat, timeseries, traces, variable } from './panels.js';

const lock = 'job=~"$job", weft_lock_class="$lock"';
const spans = '{resource.service.name=~"${job}" && span.weft.lock.class="${lock}" && span.weft.state="blocked"}';

/** quantiles are lines of one histogram. */
function quantiles(metric: string) {
  return [0.5, 0.9, 0.99].map((q) => ({ expr: quantile(q, metric, lock), legend: `p${q * 100}` }));
}

export function oneLock(): DashboardBuilder {
  return dashboard('weft-lock', 'Weft / One lock', 'Who waits for locks of a class, for how long, and what the holders do meanwhile.')
    .withVariable(variable('job', 'Service', 'weft_lock_contentions_total, job'))
    .withVariable(variable('lock', 'Lock', 'weft_lock_contentions_total{job=~"$job"}, weft_lock_class'))
    .withPanel(stat(
      { title: 'Saved per second', description: 'What would be gained if nobody had to queue for it.', unit: 's' },
      `sum(job_lock:weft_saved:rate5m{${lock}})`,
    ))
    .withPanel(stat(
      { title: 'Share of the critical path', description: 'Of what the slowest threads wait and work through.', unit: 'percentunit' },
      `sum(job_lock:weft_critical_path:ratio_rate5m{${lock}})`,
    ))
    .withPanel(stat(
      { title: 'Threads blocked, on average', description: 'Seconds blocked per second, over five minutes.', unit: 'short' },
      `sum(job_lock:weft_blocked_threads:rate5m{${lock}})`,
    ))
    .withPanel(stat(
      { title: 'Longest wait now', description: 'Of those that are still blocked.', unit: 's' },
      `max(weft_lock_blocked_longest_seconds{${lock}})`,
    ))
    .withRow(new RowBuilder('Those who wait'))
    .withPanel(timeseries(
      { title: 'Time blocked', description: 'For how long one has to wait for it. The points are exemplars: each leads to a trace.', unit: 's' },
      ...quantiles('weft_lock_blocked_duration_seconds'),
    ).dataLinks([traces('Blocked spans', spans)]))
    .withPanel(timeseries(
      { title: 'Contentions', description: 'How often a thread had to wait for it, and how often it was handed straight to the next.', unit: 'cps' },
      { expr: `sum by (weft_wait_kind) (rate(weft_lock_contentions_total{${lock}}[$__rate_interval]))`, legend: 'contentions ({{weft_wait_kind}})' },
      { expr: `sum(rate(weft_lock_handoffs_total{${lock}}[$__rate_interval]))`, legend: 'handoffs' },
    ))
    .withPanel(timeseries(
      { title: 'Queue', description: 'The longest since the flush before, and the longest chain of hand-overs: long chains with a queue are a convoy.', unit: 'short' },
      { expr: `max(weft_lock_waiters{${lock}})`, legend: 'waiters' },
      { expr: `max(weft_lock_chain_length{${lock}})`, legend: 'hand-overs without a pause' },
    ))
    .withPanel(stacked(
      { title: 'What ended the wait', description: 'By cause, per second.', unit: 'cps' },
      { expr: count('weft_wait_cause', 'weft_lock_blocked_duration_seconds', lock), legend: '{{weft_wait_cause}}' },
    ))
    .withRow(new RowBuilder('Those who hold it'))
    .withPanel(timeseries(
      { title: 'Time held while others wanted it', description: 'As long as the time blocked: slow holders. Much shorter: a long queue.', unit: 's' },
      ...quantiles('weft_lock_hold_duration_seconds'),
    ))
    .withPanel(stacked(
      { title: 'What the holder does meanwhile', description: 'Sleeping, waiting or parked with a lock in hand is a bug in the holder.', unit: 'short' },
      { expr: `sum by (weft_lock_holder_state) (rate(weft_lock_held_time_seconds_total{${lock}}[$__rate_interval]))`, legend: '{{weft_lock_holder_state}}' },
    ))
    .withRow(new RowBuilder('Waits on the same objects'))
    .withPanel(timeseries(
      { title: 'Object.wait', description: 'Waits on objects of the class, by what ended them.', unit: 'cps' },
      { expr: count('weft_wait_kind, weft_wait_cause', 'weft_wait_duration_seconds', lock), legend: '{{weft_wait_kind}}: {{weft_wait_cause}}' },
    ))
    .withPanel(timeseries(
      { title: 'Time to get the monitor back', description: 'From the notify, or the time-out, until the waiter owns it again.', unit: 's' },
      {
        expr: quantile(0.99, 'weft_wait_duration_seconds', `${lock}, weft_wait_kind="reenter"`),
        legend: 'p99',
      },
    ));
}
