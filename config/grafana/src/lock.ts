// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// One lock class: how long threads wait for it, and what its holders do meanwhile.

import { RowBuilder, type DashboardBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { count, dashboard, quantile, stacked, stat, timeseries, traces, variable } from './panels.js';

const lock = 'job=~"$job", weft_lock_class="$lock"';
const spans = '{resource.service.name=~"${job}" && span.weft.lock.class="${lock}" && span.weft.wait.kind=~"lock|permit|pool"}';

/** quantiles returns one query per quantile of a histogram. */
function quantiles(metric: string) {
  return [0.5, 0.9, 0.99].map((q) => ({ expr: quantile(q, metric, lock), legend: `p${q * 100}` }));
}

export function oneLock(): DashboardBuilder {
  return dashboard('weft-lock', 'Weft / One lock', 'How long threads wait for locks of one class, and what the holders do meanwhile.')
    .withVariable(variable('job', 'Service', 'weft_lock_contentions_total, job'))
    .withVariable(variable('lock', 'Lock', 'weft_lock_contentions_total{job=~"$job"}, weft_lock_class'))
    .withPanel(stat(
      { title: 'Saved per second', description: 'Time saved if no thread had to wait for it.', unit: 's' },
      `sum(job_lock:weft_saved:rate5m{${lock}})`,
    ))
    .withPanel(stat(
      { title: 'Share of the critical path', description: 'Share of the time on the critical paths of the slowest threads.', unit: 'percentunit' },
      `sum(job_lock:weft_critical_path:ratio_rate5m{${lock}})`,
    ))
    .withPanel(stat(
      { title: 'Blocked threads, average', description: 'Seconds blocked per second over five minutes.', unit: 'short' },
      `sum(job_lock:weft_blocked_threads:rate5m{${lock}})`,
    ))
    .withPanel(stat(
      { title: 'Longest wait now', description: 'Longest wait of a thread that is still blocked.', unit: 's' },
      `max(weft_lock_blocked_longest_seconds{${lock}})`,
    ))
    .withRow(new RowBuilder('Waiters'))
    .withPanel(timeseries(
      { title: 'Wait duration', description: 'How long threads wait for the lock. Points are exemplars; click one to open its trace.', unit: 's' },
      ...quantiles('weft_lock_blocked_duration_seconds'),
    ).dataLinks([traces('Blocked spans', spans)]))
    .withPanel(timeseries(
      { title: 'Contentions', description: 'How often a thread had to wait for the lock, and how often a holder passed it directly to a waiter.', unit: 'cps' },
      { expr: `sum by (weft_wait_kind) (rate(weft_lock_contentions_total{${lock}}[$__rate_interval]))`, legend: 'contentions ({{weft_wait_kind}})' },
      { expr: `sum(rate(weft_lock_handoffs_total{${lock}}[$__rate_interval]))`, legend: 'handoffs' },
    ))
    .withPanel(timeseries(
      { title: 'Queue', description: 'Longest queue and longest chain of handoffs since the previous flush. Long chains with a queue are a convoy.', unit: 'short' },
      { expr: `max(weft_lock_waiters{${lock}})`, legend: 'waiters' },
      { expr: `max(weft_lock_chain_length{${lock}})`, legend: 'consecutive handoffs' },
    ))
    .withPanel(stacked(
      { title: 'What ended the wait', description: 'Ended waits per second, by cause.', unit: 'cps' },
      { expr: count('weft_wait_cause', 'weft_lock_blocked_duration_seconds', lock), legend: '{{weft_wait_cause}}' },
    ))
    .withRow(new RowBuilder('Holders'))
    .withPanel(timeseries(
      { title: 'Hold duration during contention', description: 'If it is close to the wait duration, holders are slow; if it is much shorter, the queue is long.', unit: 's' },
      ...quantiles('weft_lock_hold_duration_seconds'),
    ))
    .withPanel(stacked(
      { title: 'State of the holder during contention', description: 'A holder that sleeps, waits or parks while it holds the lock is a bug.', unit: 'short' },
      { expr: `sum by (weft_lock_holder_state) (rate(weft_lock_held_time_seconds_total{${lock}}[$__rate_interval]))`, legend: '{{weft_lock_holder_state}}' },
    ))
    .withRow(new RowBuilder('Waits on the same objects'))
    .withPanel(timeseries(
      { title: 'Object.wait', description: 'Waits on objects of the class, by cause of their end.', unit: 'cps' },
      { expr: count('weft_wait_kind, weft_wait_cause', 'weft_wait_duration_seconds', lock), legend: '{{weft_wait_kind}}: {{weft_wait_cause}}' },
    ))
    .withPanel(timeseries(
      { title: 'Time to re-enter the monitor', description: 'From the notify or timeout until the waiter owns the monitor again.', unit: 's' },
      {
        expr: quantile(0.99, 'weft_wait_duration_seconds', `${lock}, weft_wait_kind="reenter"`),
        legend: 'p99',
      },
    ));
}
