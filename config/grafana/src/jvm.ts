// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// One process: what its threads are doing, what they did before, and whether the data is complete.

import { RowBuilder, type DashboardBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { dashboard, goto, quantile, stacked, stat, sumOf, table, timeseries, traces, variable } from './panels.js';

const jvm = 'job=~"$job", instance=~"$instance"';

export function oneJVM(): DashboardBuilder {
  return dashboard('weft-jvm', 'Weft / One JVM', 'What the threads of one JVM are doing and what they wait for.')
    .withVariable(variable('job', 'Service', 'weft_thread_time_seconds_total, job'))
    .withVariable(variable('instance', 'Instance', 'weft_thread_time_seconds_total{job=~"$job"}, instance'))
    .withPanel(stat(
      { title: 'Deadlocked threads', description: 'Threads in a deadlock now.', unit: 'short' }, `sum(weft_deadlocked_threads{${jvm}})`,
    ))
    .withPanel(stat(
      { title: 'Threads blocked now', description: 'Threads blocked on any lock.', unit: 'short' }, `sum(weft_lock_blocked_threads{${jvm}})`,
    ))
    .withPanel(stat(
      { title: 'Longest wait now', description: 'Longest wait of a thread that is still blocked.', unit: 's' }, `max(weft_lock_blocked_longest_seconds{${jvm}})`,
    ))
    .withPanel(stat(
      { title: 'Longest hold now', description: 'Longest hold of a lock that other threads wait for.', unit: 's' }, `max(weft_lock_held_longest_seconds{${jvm}})`,
    ))
    .withRow(new RowBuilder('Now'))
    .withPanel(stacked(
      { title: 'Threads by state', description: 'State at each flush.', unit: 'short' },
      { expr: `sum by (weft_state) (weft_thread_count{${jvm}})`, legend: '{{weft_state}}' },
    ))
    .withPanel(timeseries(
      { title: 'Blocked threads by lock', description: 'State at each flush.', unit: 'short' },
      { expr: `sum by (weft_lock_class) (weft_lock_blocked_threads{${jvm}})`, legend: '{{weft_lock_class}}' },
    ).dataLinks([traces('Blocked spans', '{resource.service.instance.id="${instance}" && span.weft.wait.kind=~"lock|permit|pool"}')]))
    .withRow(new RowBuilder('Selected time range'))
    .withPanel(table(
      { title: 'Locks', description: 'Totals over the selected time range.', unit: 's' },
      { weft_lock_class: 'Lock' },
      {
        'Blocked': `sum by (weft_lock_class) (increase(weft_lock_blocked_time_seconds_total{${jvm}}[$__range])) > 0`,
        'Contentions': `sum by (weft_lock_class) (increase(weft_lock_contentions_total{${jvm}}[$__range])) > 0`,
        'Held during contention': `sum by (weft_lock_class) (increase(weft_lock_held_time_seconds_total{${jvm}}[$__range])) > 0`,
        'On the critical path': `sum by (weft_lock_class) (increase(weft_critical_path_time_seconds_total{${jvm}}[$__range])) > 0`,
        'Saving if fixed': `sum by (weft_lock_class) (increase(weft_what_if_saved_seconds_total{${jvm}}[$__range])) > 0`,
      },
    )
      .overrideByName('Contentions', [{ id: 'unit', value: 'short' }])
      .dataLinks([goto('Show this lock', '/d/weft-lock?var-job=${job:percentencode}&var-lock=${__data.fields.Lock:percentencode}&${__url_time_range}')]))
    .withPanel(stacked(
      { title: 'Threads by state, average', description: 'Average number of threads in each state.', unit: 'short' },
      { expr: `sum by (weft_state) (rate(weft_thread_time_seconds_total{${jvm}}[$__rate_interval]))`, legend: '{{weft_state}}' },
    ))
    .withPanel(timeseries(
      { title: 'Other waits', description: 'Average number of waiting threads, by kind of wait and class of the object.', unit: 'short' },
      { expr: `topk(10, ${sumOf('weft_wait_kind, weft_lock_class', 'weft_wait_duration_seconds', jvm)})`, legend: '{{weft_wait_kind}} {{weft_lock_class}}' },
    ))
    .withRow(new RowBuilder('Virtual threads'))
    .withPanel(timeseries(
      { title: 'Wait for a carrier', description: 'How long virtual threads that could run waited for a carrier thread. Points are exemplars.', unit: 's' },
      { expr: quantile(0.99, 'weft_virtual_queue_duration_seconds', jvm), legend: 'p99' },
      { expr: `max(weft_virtual_queue_longest_seconds{${jvm}})`, legend: 'longest now' },
    ).dataLinks([traces('Spans of these waits', '{resource.service.instance.id="${instance}" && span.weft.wait.kind="carrier"}')]))
    .withPanel(stacked(
      { title: 'Carriers by state', description: 'State at each flush. Pinned: a virtual thread waits and keeps the carrier. None idle: others may have to wait for one.', unit: 'short' },
      { expr: `sum by (weft_virtual_carrier_state) (weft_virtual_carrier_count{${jvm}})`, legend: '{{weft_virtual_carrier_state}}' },
    ))
    .withPanel(timeseries(
      { title: 'Carriers kept by waiting virtual threads', description: 'Average number, by kind of wait and class of the object.', unit: 'short' },
      { expr: `topk(10, ${sumOf('weft_wait_kind, weft_lock_class', 'weft_virtual_pinned_duration_seconds', jvm)})`, legend: '{{weft_wait_kind}} {{weft_lock_class}}' },
    ))
    .withRow(new RowBuilder('Data quality'))
    .withPanel(timeseries(
      { title: 'Events', description: 'Events received, lost in the agent, and lost in transit. Losses should be zero.', unit: 'cps' },
      { expr: `sum(rate(weft_events_total{${jvm}}[$__rate_interval]))`, legend: 'received' },
      { expr: `sum(rate(weft_events_lost_total{${jvm}}[$__rate_interval]))`, legend: 'lost in the agent' },
      { expr: `sum(rate(weft_events_missed_total{${jvm}}[$__rate_interval]))`, legend: 'lost in transit' },
    ))
    .withPanel(timeseries(
      { title: 'Deadlocks and lost notifies', description: 'Since the start of the session.', unit: 'short' },
      { expr: `sum(weft_deadlocks_total{${jvm}})`, legend: 'deadlocks' },
      { expr: `sum by (weft_lock_class) (weft_wait_lost_notifies_total{${jvm}})`, legend: 'lost notifies: {{weft_lock_class}}' },
    ));
}
