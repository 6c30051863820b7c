// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// One process: what its threads do now, what they did, and whether the figures can be trusted.

import { RowBuilder, type DashboardBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { dashboard, goto, stacked, stat, sumOf, table, timeseries, traces, variable } from './panels.js';

const jvm = 'job=~"$job", instance=~"$instance"';

export function oneJVM(): DashboardBuilder {
  return dashboard('weft-jvm', 'Weft / One JVM', 'What the threads of one JVM do, and for what they wait.')
    .withVariable(variable('job', 'Service', 'weft_thread_time_seconds_total, job'))
    .withVariable(variable('instance', 'Instance', 'weft_thread_time_seconds_total{job=~"$job"}, instance'))
    .withPanel(stat(
      { title: 'Deadlocked threads', description: 'Now.', unit: 'short' }, `sum(weft_deadlocked_threads{${jvm}})`,
    ))
    .withPanel(stat(
      { title: 'Threads blocked now', description: 'On any lock.', unit: 'short' }, `sum(weft_lock_blocked_threads{${jvm}})`,
    ))
    .withPanel(stat(
      { title: 'Longest wait now', description: 'Of those that are still blocked.', unit: 's' }, `max(weft_lock_blocked_longest_seconds{${jvm}})`,
    ))
    .withPanel(stat(
      { title: 'Longest hold now', description: 'Of locks that others want.', unit: 's' }, `max(weft_lock_held_longest_seconds{${jvm}})`,
    ))
    .withRow(new RowBuilder('Now'))
    .withPanel(stacked(
      { title: 'Threads by state', description: 'As they stood at each flush.', unit: 'short' },
      { expr: `sum by (weft_state) (weft_thread_count{${jvm}})`, legend: '{{weft_state}}' },
    ))
    .withPanel(timeseries(
      { title: 'Blocked threads, by lock', description: 'As they stood at each flush.', unit: 'short' },
      { expr: `sum by (weft_lock_class) (weft_lock_blocked_threads{${jvm}})`, legend: '{{weft_lock_class}}' },
    ).dataLinks([traces('Blocked spans', '{resource.service.instance.id="${instance}" && span.weft.state="blocked"}')]))
    .withRow(new RowBuilder('In the time that is shown'))
    .withPanel(table(
      { title: 'Locks', description: 'Sums over the time that is shown.', unit: 's' },
      { weft_lock_class: 'Lock' },
      {
        'Blocked': `sum by (weft_lock_class) (increase(weft_lock_blocked_time_seconds_total{${jvm}}[$__range])) > 0`,
        'Contentions': `sum by (weft_lock_class) (increase(weft_lock_contentions_total{${jvm}}[$__range])) > 0`,
        'Held while wanted': `sum by (weft_lock_class) (increase(weft_lock_held_time_seconds_total{${jvm}}[$__range])) > 0`,
        'On the critical path': `sum by (weft_lock_class) (increase(weft_critical_path_time_seconds_total{${jvm}}[$__range])) > 0`,
        'Saved without it': `sum by (weft_lock_class) (increase(weft_what_if_saved_seconds_total{${jvm}}[$__range])) > 0`,
      },
    )
      .overrideByName('Contentions', [{ id: 'unit', value: 'short' }])
      .dataLinks([goto('This lock', '/d/weft-lock?var-job=${job:percentencode}&var-lock=${__data.fields.Lock:percentencode}&${__url_time_range}')]))
    .withPanel(stacked(
      { title: 'What threads did', description: 'Threads in each state, on average.', unit: 'short' },
      { expr: `sum by (weft_state) (rate(weft_thread_time_seconds_total{${jvm}}[$__rate_interval]))`, legend: '{{weft_state}}' },
    ))
    .withPanel(timeseries(
      { title: 'Waits other than for locks', description: 'Threads that wait, on average, by kind and object.', unit: 'short' },
      { expr: `topk(10, ${sumOf('weft_wait_kind, weft_lock_class', 'weft_wait_duration_seconds', jvm)})`, legend: '{{weft_wait_kind}} {{weft_lock_class}}' },
    ))
    .withRow(new RowBuilder('Can the figures be trusted?'))
    .withPanel(timeseries(
      { title: 'Events', description: 'Taken, lost in the agent, and missed on the way. Lost and missed should be zero.', unit: 'cps' },
      { expr: `sum(rate(weft_events_total{${jvm}}[$__rate_interval]))`, legend: 'taken' },
      { expr: `sum(rate(weft_events_lost_total{${jvm}}[$__rate_interval]))`, legend: 'lost in the agent' },
      { expr: `sum(rate(weft_events_missed_total{${jvm}}[$__rate_interval]))`, legend: 'missed on the way' },
    ))
    .withPanel(timeseries(
      { title: 'Deadlocks and lost notifies', description: 'Since the session began.', unit: 'short' },
      { expr: `sum(weft_deadlocks_total{${jvm}})`, legend: 'deadlocks' },
      { expr: `sum by (weft_lock_class) (weft_wait_lost_notifies_total{${jvm}})`, legend: 'lost notifies: {{weft_lock_class}}' },
    ));
}
