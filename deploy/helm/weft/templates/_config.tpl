{{- /*
Copyright The Weft Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}
{{/*
The collectors' configurations. Exporters, queues and the rest come from the files in config, unchanged; only addresses, pipelines and what
the values choose are added here. All templates return YAML of a dictionary.
*/}}

{{- define "weft.file" -}}{{ .root.Files.Get (printf "files/%s.yaml" .name) }}{{- end -}}

{{/* What all tiers have in common. */}}
{{- define "weft.config.common" -}}
extensions:
  health_check: {endpoint: "{{ .Values.listen }}:13133"}
processors:
  memory_limiter: {{ (include "weft.file" (dict "root" . "name" "metrics") | fromYaml).processors.memory_limiter | toJson }}
service:
  telemetry:
    metrics:
      readers:
        - pull: {exporter: {prometheus: {host: {{ .Values.listen | trimAll "[]" | quote }}, port: 8888}}}
{{- end -}}

{{/* Where agents connect. */}}
{{- define "weft.config.agents" -}}
{{- $node := .Values.node -}}
{{- $tcp := $node.tcp -}}
receivers:
  {{- if $node.socket.enabled }}
  jvm_thread/socket:
    protocols: {stream: {endpoint: "unix://{{ $node.socket.directory }}/weft.sock", socket_mode: {{ $node.socket.mode | quote }}}}
  {{- end }}
  {{- if $tcp.enabled }}
  jvm_thread/tcp:
    protocols:
      stream:
        endpoint: "{{ .Values.listen }}:4327"
        {{- if $tcp.tlsSecret }}
        tls: {cert_file: /etc/weft-agents-tls/tls.crt, key_file: /etc/weft-agents-tls/tls.key, reload_interval: 1m}
        {{- end }}
        {{- if $tcp.tokenSecret }}
        auth: {authenticator: bearertokenauth/agents}
        {{- end }}
  {{- end }}
{{- if and $tcp.enabled $tcp.tokenSecret }}
extensions:
  bearertokenauth/agents: {filename: /etc/weft-agents-tokens/tokens}
{{- end }}
{{- end -}}

{{/* Receives raw events from another tier. */}}
{{- define "weft.config.otlp" -}}
{{- $grpc := (include "weft.file" (dict "root" .root "name" "gateway") | fromYaml).receivers.otlp.protocols.grpc -}}
{{- $_ := set $grpc "endpoint" (printf "%s:14317" .root.Values.listen) -}}
{{- if .tls -}}
{{- $_ := set $grpc "tls" (dict "cert_file" "/etc/weft-tls/tls.crt" "key_file" "/etc/weft-tls/tls.key" "reload_interval" "1m") -}}
{{- end -}}
receivers: {otlp: {protocols: {grpc: {{ $grpc | toJson }}}}}
{{- end -}}

{{/* Forwards the raw events of each JVM to one gateway. */}}
{{- define "weft.config.edge" -}}
{{- $v := .Values -}}
{{- $edge := include "weft.file" (dict "root" . "name" "edge") | fromYaml -}}
{{- $to := $edge.exporters.load_balancing -}}
{{- $host := include "weft.host" (dict "root" . "tier" "gateway") -}}
{{- $_ := set $to "resolver" (dict "dns" (dict "hostname" $host "port" "14317")) -}}
{{- if $v.gateway.tlsSecret -}}
{{- /* The resolver returns addresses, the certificate has the name. */ -}}
{{- $_ := set $to.protocol.otlp "tls" (dict "ca_file" "/etc/weft-gateway-ca/ca.crt" "reload_interval" "1m"
  "server_name_override" (printf "%s-gateway" (include "weft.fullname" .))) -}}
{{- end -}}
{{- $storage := dict -}}
{{- if $v.node.storage.enabled -}}{{- $storage = include "weft.file" (dict "root" . "name" "durable-edge") | fromYaml -}}{{- end -}}
{{- $extensions := merge (pick (default (dict) $storage.extensions) "file_storage") (pick $edge.extensions "thread_engine") -}}
{{- $exporter := merge (dict) (dig "exporters" "load_balancing" (dict) $storage) $to -}}
extensions: {{ $extensions | toJson }}
exporters: {load_balancing: {{ $exporter | toJson }}}
service: {pipelines: {traces: {processors: [memory_limiter], exporters: [load_balancing]}}}
{{- end -}}

{{/* Analyzes JVMs; (dict "root" $ "storage" bool). */}}
{{- define "weft.config.analysis" -}}
{{- $v := .root.Values -}}
{{- $metrics := include "weft.file" (dict "root" .root "name" "metrics") | fromYaml -}}
{{- $gateway := include "weft.file" (dict "root" .root "name" "gateway") | fromYaml -}}
{{- $http := eq $v.exporter.protocol "http" -}}
{{- $storage := dict -}}
{{- if .storage -}}{{- $storage = include "weft.file" (dict "root" .root "name" (ternary "durable-http" "durable" $http)) | fromYaml -}}{{- end -}}
{{- $extensions := mergeOverwrite (pick $gateway.extensions "thread_engine") (pick $metrics.extensions "thread_engine")
  (pick (default (dict) $storage.extensions) "thread_engine" "file_storage") -}}
{{- $raw := list -}}
{{- $exporters := dict -}}
{{- $pipelines := dict -}}
{{- $spans := ternary "otlp_http" "otlp_grpc" $http -}}
{{- if $v.exporter.endpoint -}}
  {{- $raw = append $raw "forward" -}}
  {{- $source := ternary (include "weft.file" (dict "root" .root "name" "tempo") | fromYaml) $gateway $http -}}
  {{- $chosen := dict "endpoint" $v.exporter.endpoint "headers" $v.exporter.headers "tls" $v.exporter.tls -}}
  {{- $_ := set $exporters $spans (mergeOverwrite (get $source.exporters $spans) (dig "exporters" $spans (dict) $storage) $chosen) -}}
  {{- $_ := set $pipelines "traces" (dict "receivers" (list "forward") "processors" (list "thread_span") "exporters" (list $spans)) -}}
{{- end -}}
{{- if $v.metrics.enabled -}}
  {{- $raw = append $raw "contention" -}}
  {{- $endpoint := dict "endpoint" (printf "%s:9464" $v.listen) -}}
  {{- $_ := set $exporters "prometheus" (mergeOverwrite $metrics.exporters.prometheus $endpoint) -}}
  {{- $_ := set $exporters "debug/events" (get $metrics.exporters "debug/events") -}}
  {{- $_ := set $pipelines "metrics" (dict "receivers" (list "contention") "exporters" (list "prometheus")) -}}
  {{- $logs := ternary (list "debug/events" $spans) (list "debug/events") $v.exporter.logs -}}
  {{- $_ := set $pipelines "logs" (dict "receivers" (list "contention") "exporters" $logs) -}}
{{- end -}}
{{- if $v.page.enabled -}}
  {{- $raw = append $raw "otlp_grpc/page" -}}
  {{- /* One consumer keeps the order. No retries: a page that is away must not delay spans, metrics and acknowledgements. */ -}}
  {{- $queue := (include "weft.file" (dict "root" .root "name" "edge") | fromYaml).exporters.load_balancing.sending_queue -}}
  {{- $page := dict "endpoint" (printf "%s:14317" (include "weft.host" (dict "root" .root "tier" "page"))) "sending_queue" $queue
    "retry_on_failure" (dict "enabled" false) "timeout" "2s" "compression" "zstd" "tls" (dict "insecure" true) -}}
  {{- $_ := set $exporters "otlp_grpc/page" $page -}}
{{- end -}}
{{- $_ := set $pipelines "traces/raw" (dict "processors" (list "memory_limiter") "exporters" $raw) -}}
extensions: {{ $extensions | toJson }}
connectors: {{ pick $metrics.connectors "forward" "contention" | toJson }}
processors: {thread_span: {{ $metrics.processors.thread_span | toJson }}}
exporters: {{ $exporters | toJson }}
service: {pipelines: {{ $pipelines | toJson }}}
{{- end -}}

{{/* Shows JVMs on the page. */}}
{{- define "weft.config.page" -}}
{{- $page := .Values.page -}}
{{- $base := include "weft.file" (dict "root" . "name" "all-in-one") | fromYaml -}}
{{- $view := $base.exporters.thread_view -}}
{{- $authenticator := get (dict "basic" "basicauth/page" "bearer" "bearertokenauth/page" "authenticator" $page.auth.authenticator) $page.auth.type -}}
{{- $_ := set $view "endpoint" (printf "%s:8090" (ternary .Values.listen "localhost" (ne $page.auth.type "portForward"))) -}}
{{- if $authenticator -}}{{- $_ := set $view "auth" (dict "authenticator" $authenticator) -}}{{- end -}}
{{- if and $page.tlsSecret $authenticator -}}
{{- $_ := set $view "tls" (dict "cert_file" "/etc/weft-tls/tls.crt" "key_file" "/etc/weft-tls/tls.key" "reload_interval" "1m") -}}
{{- end -}}
{{- if $authenticator -}}
{{- $_ := set $view "allowed_hosts" (concat (list (include "weft.host" (dict "root" . "tier" "page"))) $page.hosts) -}}
{{- end -}}
{{- if $page.traceURL -}}{{- $_ := set $view "trace" (dict "url" $page.traceURL) -}}{{- end -}}
{{- if $page.storage.enabled -}}{{- $_ := set $view "directory" "/var/lib/weft/page" -}}{{- end -}}
extensions:
  thread_engine: {{ $base.extensions.thread_engine | toJson }}
  {{- if eq $page.auth.type "basic" }}
  basicauth/page: {htpasswd: {file: /etc/weft-page/htpasswd}}
  {{- else if eq $page.auth.type "bearer" }}
  bearertokenauth/page: {filename: /etc/weft-page/tokens}
  {{- end }}
exporters: {thread_view: {{ $view | toJson }}}
service: {pipelines: {traces: {receivers: [otlp], processors: [memory_limiter], exporters: [thread_view]}}}
{{- end -}}

{{/* The configuration of a tier with the user's additions: (dict "root" $ "tier" "node"). */}}
{{- define "weft.config" -}}
{{- $root := .root -}}
{{- $v := $root.Values -}}
{{- $config := include "weft.config.common" $root | fromYaml -}}
{{- $parts := list -}}
{{- if eq .tier "page" -}}
  {{- $parts = list (include "weft.config.otlp" (dict "root" $root "tls" false)) (include "weft.config.page" $root) -}}
{{- else if eq .tier "gateway" -}}
  {{- $parts = list (include "weft.config.otlp" (dict "root" $root "tls" $v.gateway.tlsSecret))
    (include "weft.config.analysis" (dict "root" $root "storage" $v.gateway.storage.enabled)) -}}
{{- else if eq $v.mode "both" -}}
  {{- $parts = list (include "weft.config.agents" $root) (include "weft.config.edge" $root) -}}
{{- else -}}
  {{- $parts = list (include "weft.config.agents" $root)
    (include "weft.config.analysis" (dict "root" $root "storage" $v.node.storage.enabled)) -}}
{{- end -}}
{{- range $parts -}}
  {{- $part := fromYaml . -}}
  {{- if $part.Error -}}{{- fail (printf "the chart's configuration: %s" $part.Error) -}}{{- end -}}
  {{- $config = mergeOverwrite $config $part -}}
{{- end -}}
{{- /* One secret for all: nodes sign, gateways check and pass on, and the page checks. */ -}}
{{- $carriers := ternary (dict "carriers" (dict "key_file" "/etc/weft-carriers/keys")) (dict) (ne $v.carrierKeySecret "") -}}
{{- range $name, $receiver := $config.receivers -}}
{{- if hasPrefix "jvm_thread" $name -}}{{- $_ := mergeOverwrite $receiver $carriers -}}{{- end -}}
{{- end -}}
{{- with $config.extensions.thread_engine -}}
{{- $_ := mergeOverwrite (unset . "carriers") $carriers -}}
{{- end -}}
{{- $first := get $config.service.pipelines (ternary "traces/raw" "traces" (hasKey $config.service.pipelines "traces/raw")) -}}
{{- $_ := set $first "receivers" (keys $config.receivers | sortAlpha) -}}
{{- $_ := set $config.service "extensions" (keys $config.extensions | sortAlpha) -}}
{{- $own := deepCopy (get $v .tier).config -}}
{{- $config = mergeOverwrite $config $own -}}
{{- /* Extensions that the user defines are started, without a copy of the list. */ -}}
{{- if not (hasKey (dig "service" (dict) $own) "extensions") -}}
{{- $_ := set $config.service "extensions" (keys $config.extensions | sortAlpha) -}}
{{- end -}}
{{- /* null removes a pipeline. */ -}}
{{- range $name, $pipeline := $config.service.pipelines -}}
{{- if not $pipeline -}}{{- $_ := unset $config.service.pipelines $name -}}{{- end -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}
