{{- /*
Copyright The Weft Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}
{{/* The name of the release's objects. */}}
{{- define "weft.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels that select the pods of a tier; (dict "root" $ "tier" "node"). They must not change with a release. */}}
{{- define "weft.selector" -}}
app.kubernetes.io/name: weft
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .tier }}
{{- end -}}

{{/* Labels of an object; tier may be missing. */}}
{{- define "weft.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 }}
app.kubernetes.io/name: weft
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .tier }}
app.kubernetes.io/component: {{ . }}
{{- end }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "weft.serviceAccount" -}}
{{- $account := .Values.serviceAccount -}}
{{- $account.name | default (ternary (include "weft.fullname" .) "default" $account.create) -}}
{{- end -}}

{{- define "weft.hasNode" -}}{{ if ne .Values.mode "gateway" }}true{{ end }}{{- end -}}
{{- define "weft.hasGateway" -}}{{ if ne .Values.mode "daemonset" }}true{{ end }}{{- end -}}

{{/* The tiers of the release, as a YAML list. */}}
{{- define "weft.tiers" -}}
[{{ if include "weft.hasNode" . }}node, {{ end }}{{ if include "weft.hasGateway" . }}gateway, {{ end }}{{ if .Values.page.enabled }}page{{ end }}]
{{- end -}}

{{/* Whether browsers reach the page over the network. */}}
{{- define "weft.pageIsServed" -}}{{ if and .Values.page.enabled (ne .Values.page.auth.type "portForward") }}true{{ end }}{{- end -}}

{{/* The DNS name of a service of the release; the resolver's search list completes it. */}}
{{- define "weft.host" -}}{{ include "weft.fullname" .root }}-{{ .tier }}.{{ .root.Release.Namespace }}.svc{{- end -}}

{{- define "weft.image" -}}
{{- $image := .Values.image -}}
{{- $name := required "image.repository is required: no image is published yet, see docs/kubernetes.md" $image.repository -}}
{{- if $image.digest }}{{ $name }}@{{ $image.digest }}{{ else }}{{ $name }}:{{ $image.tag | default .Chart.AppVersion }}{{ end -}}
{{- end -}}

{{/* Mebibytes of a quantity such as 850Mi, 2Gi or 1500M. */}}
{{- define "weft.mebibytes" -}}
{{- $units := dict "" 1 "k" 1000 "Ki" 1024 "M" 1000000 "Mi" 1048576 "G" 1000000000 "Gi" 1073741824 -}}
{{- $text := toString . -}}
{{- $unit := regexFind "[A-Za-z]*$" $text -}}
{{- if or (not (regexMatch "^[0-9]+([.][0-9]+)?[A-Za-z]*$" $text)) (not (hasKey $units $unit)) -}}
{{- fail (printf "resources.limits.memory: %s is not supported: use a number with Mi or Gi" $text) -}}
{{- end -}}
{{- divf (mulf (float64 (trimSuffix $unit $text)) (get $units $unit)) 1048576 | floor | int -}}
{{- end -}}

{{/* Combinations of values that would not work, or would open a port to everyone. */}}
{{- define "weft.check" -}}
{{- $v := .Values -}}
{{- if include "weft.hasNode" . -}}
  {{- $tcp := $v.node.tcp -}}
  {{- if not (or $v.node.socket.enabled $tcp.enabled) -}}
    {{- fail "agents cannot connect: enable node.socket or node.tcp" -}}
  {{- end -}}
  {{- if and $tcp.enabled (not $tcp.insecure) (not (and $tcp.tlsSecret $tcp.tokenSecret)) -}}
    {{- fail "node.tcp is open to everyone who reaches the node: set tlsSecret and tokenSecret, or insecure: true in a trusted network" -}}
  {{- end -}}
{{- end -}}
{{- if not (or $v.exporter.endpoint $v.metrics.enabled $v.page.enabled) -}}
  {{- fail "events would go nowhere: set exporter.endpoint, metrics.enabled or page.enabled" -}}
{{- end -}}
{{- if and $v.exporter.logs (not (and $v.exporter.endpoint $v.metrics.enabled)) -}}
  {{- fail "exporter.logs needs exporter.endpoint and metrics.enabled: the contention connector reports deadlocks" -}}
{{- end -}}
{{- if and $v.metrics.serviceMonitor.enabled (not $v.metrics.enabled) -}}
  {{- fail "metrics.serviceMonitor needs metrics.enabled" -}}
{{- end -}}
{{- if $v.page.enabled -}}
  {{- $auth := $v.page.auth -}}
  {{- if and (has $auth.type (list "basic" "bearer")) (not $auth.secret) -}}
    {{- fail (printf "page.auth.type %s needs page.auth.secret" $auth.type) -}}
  {{- end -}}
  {{- if and (eq $auth.type "authenticator") (not (hasKey (dig "extensions" (dict) $v.page.config) $auth.authenticator)) -}}
    {{- fail (printf "page.auth.authenticator: page.config has no extension %q" $auth.authenticator) -}}
  {{- end -}}
  {{- if and $v.page.ingress.enabled (eq $auth.type "portForward") -}}
    {{- fail "page.ingress would show the page to everyone: set page.auth.type to basic, bearer or authenticator" -}}
  {{- end -}}
  {{- if and $v.page.ingress.enabled (not $v.page.hosts) -}}
    {{- fail "page.ingress needs page.hosts: the page refuses unknown host names" -}}
  {{- end -}}
{{- end -}}
{{- end -}}
