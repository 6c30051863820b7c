{{- /*
Copyright The Weft Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}
{{/* Ports of the collector of a tier. */}}
{{- define "weft.ports" -}}
{{- $v := .root.Values -}}
- {name: health, containerPort: 13133}
- {name: internal, containerPort: 8888}
{{- if include "weft.analyzes" . }}
- {name: metrics, containerPort: 9464}
{{- end }}
{{- if and (eq .tier "node") $v.node.tcp.enabled }}
- name: agents
  containerPort: 4327
  {{- if $v.node.tcp.hostPort }}
  hostPort: {{ $v.node.tcp.port }}
  {{- end }}
{{- end }}
{{- if ne .tier "node" }}
- {name: otlp, containerPort: 14317}
{{- end }}
{{- if and (eq .tier "page") (include "weft.pageIsServed" .root) }}
- {name: page, containerPort: 8090}
{{- end }}
{{- end -}}

{{/* Whether a tier makes metrics. */}}
{{- define "weft.analyzes" -}}
{{- $v := .root.Values -}}
{{- if and $v.metrics.enabled (or (eq .tier "gateway") (and (eq .tier "node") (eq $v.mode "daemonset"))) }}true{{ end }}
{{- end -}}

{{/* Secrets of a tier: a list of dictionaries with name, secret, path and, if not all keys are needed, items. */}}
{{- define "weft.secrets" -}}
{{- $v := .root.Values -}}
{{- with $v.carrierKeySecret }}
- {name: carrier-keys, secret: {{ . }}, path: /etc/weft-carriers, items: [keys]}
{{- end }}
{{- if eq .tier "node" }}
  {{- if and $v.node.tcp.enabled $v.node.tcp.tlsSecret }}
- {name: agents-tls, secret: {{ $v.node.tcp.tlsSecret }}, path: /etc/weft-agents-tls, items: [tls.crt, tls.key]}
  {{- end }}
  {{- if and $v.node.tcp.enabled $v.node.tcp.tokenSecret }}
- {name: agents-tokens, secret: {{ $v.node.tcp.tokenSecret }}, path: /etc/weft-agents-tokens, items: [tokens]}
  {{- end }}
  {{- if and (eq $v.mode "both") $v.gateway.tlsSecret }}
- {name: gateway-ca, secret: {{ $v.gateway.tlsSecret }}, path: /etc/weft-gateway-ca, items: [ca.crt]}
  {{- end }}
{{- else }}
  {{- with (get $v .tier).tlsSecret }}
- {name: tls, secret: {{ . }}, path: /etc/weft-tls, items: [tls.crt, tls.key]}
  {{- end }}
  {{- if and (eq .tier "page") $v.page.auth.secret }}
- {name: users, secret: {{ $v.page.auth.secret }}, path: /etc/weft-page, items: [{{ ternary "htpasswd" "tokens" (eq $v.page.auth.type "basic") }}]}
  {{- end }}
{{- end }}
{{- end -}}

{{/* The pod template of a tier: (dict "root" $ "tier" "node"). */}}
{{- define "weft.pod" -}}
{{- $v := .root.Values -}}
{{- $own := get $v .tier -}}
{{- $secrets := include "weft.secrets" . | fromYamlArray -}}
{{- $socket := and (eq .tier "node") $v.node.socket.enabled -}}
{{- $restricted := "{allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}" -}}
metadata:
  labels:
    {{- include "weft.labels" . | nindent 4 }}
    {{- with $own.podLabels }}{{ toYaml . | nindent 4 }}{{ end }}
  annotations:
    checksum/config: {{ include "weft.config" . | sha256sum }}
    {{- with $own.podAnnotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  serviceAccountName: {{ include "weft.serviceAccount" .root }}
  automountServiceAccountToken: {{ gt (len $v.serviceAccount.clusterRules) 0 }}
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ $v.terminationGracePeriodSeconds }}
  securityContext: {{ toJson $v.podSecurityContext }}
  {{- with $v.image.pullSecrets }}
  imagePullSecrets: {{ toJson . }}
  {{- end }}
  {{- with $own.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $own.nodeSelector }}
  nodeSelector: {{ toJson . }}
  {{- end }}
  {{- with $own.tolerations }}
  tolerations: {{ toJson . }}
  {{- end }}
  {{- with $own.affinity }}
  affinity: {{ toJson . }}
  {{- end }}
  {{- with $own.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- $selector := dict "matchLabels" (include "weft.selector" $ | fromYaml) }}
    {{- range . }}
    - {{ merge (dict "labelSelector" $selector) . | toJson }}
    {{- end }}
  {{- end }}
  {{- if $socket }}
  initContainers:
    # The kubelet creates the directory of a hostPath for root; the collector is another user.
    - name: socket-directory
      image: {{ $v.node.socket.initImage }}
      imagePullPolicy: {{ $v.image.pullPolicy }}
      command: [sh, -ec]
      args: ['[ "$(stat -c %u /socket)" = "$0" ] || { chmod 0755 /socket; chown "$0" /socket; }', {{ $v.podSecurityContext.runAsUser | int | quote }}]
      securityContext:
        runAsUser: 0
        runAsNonRoot: false
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL], add: [CHOWN]}
      resources: {requests: {cpu: 10m, memory: 16Mi}, limits: {memory: 32Mi}}
      volumeMounts:
        - {name: socket, mountPath: /socket}
  {{- end }}
  containers:
    - name: collector
      image: {{ include "weft.image" .root }}
      imagePullPolicy: {{ $v.image.pullPolicy }}
      {{- with $v.image.command }}
      command: {{ toJson . }}
      {{- end }}
      args: [--config=/etc/weft/collector.yaml]
      securityContext: {{ $restricted }}
      env:
        {{- with dig "limits" "memory" "850Mi" $own.resources }}
        # 90 % of the limit, or of 850Mi if there is none. thread_engine sets the soft limit of the Go runtime to a part of it, as GOMEMLIMIT would (docs/memory.md).
        - {name: WEFT_MEMORY_MIB, value: {{ div (include "weft.mebibytes" . | int | mul 9) 10 | quote }}}
        {{- end }}
        {{- if dig "storage" "enabled" false $own }}
        - {name: WEFT_STATE, value: /var/lib/weft/state}
        {{- end }}
        {{- with $own.extraEnv }}{{ toYaml . | nindent 8 }}{{ end }}
      ports:
        {{- include "weft.ports" . | nindent 8 }}
      startupProbe: {httpGet: {path: /, port: health}, periodSeconds: 2, failureThreshold: 60}
      readinessProbe: {httpGet: {path: /, port: health}, periodSeconds: 5}
      livenessProbe: {httpGet: {path: /, port: health}, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6}
      resources: {{ toJson $own.resources }}
      volumeMounts:
        - {name: config, mountPath: /etc/weft, readOnly: true}
        {{- if $socket }}
        - {name: socket, mountPath: {{ $v.node.socket.directory }}}
        {{- end }}
        {{- if dig "storage" "enabled" false $own }}
        - {name: storage, mountPath: /var/lib/weft}
        {{- end }}
        {{- range $secrets }}
        - {name: {{ .name }}, mountPath: {{ .path }}, readOnly: true}
        {{- end }}
        {{- with $own.extraVolumeMounts }}{{ toYaml . | nindent 8 }}{{ end }}
  volumes:
    - {name: config, configMap: {name: {{ include "weft.fullname" .root }}-{{ .tier }}}}
    {{- if $socket }}
    - {name: socket, hostPath: {path: {{ $v.node.socket.directory }}, type: DirectoryOrCreate}}
    {{- end }}
    {{- if and (eq .tier "node") $v.node.storage.enabled }}
    - {name: storage, emptyDir: {sizeLimit: {{ $v.node.storage.size }}}}
    {{- end }}
    {{- range $secrets }}
    - name: {{ .name }}
      secret:
        secretName: {{ .secret }}
        defaultMode: 0440
        items:
          {{- range .items }}
          - {key: {{ . }}, path: {{ . }}}
          {{- end }}
    {{- end }}
    {{- with $own.extraVolumes }}{{ toYaml . | nindent 4 }}{{ end }}
{{- end -}}

{{/* The claim of a StatefulSet. */}}
{{- define "weft.claim" -}}
volumeClaimTemplates:
  - metadata: {name: storage}
    spec:
      accessModes: [ReadWriteOnce]
      {{- with .storageClassName }}
      storageClassName: {{ . }}
      {{- end }}
      resources: {requests: {storage: {{ .size }}}}
{{- end -}}
