// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package io.github.weftotel.context;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.opentelemetry.sdk.resources.Resource;

/**
 * Gives the SDK and the agent the same service.name and service.instance.id, so that trace stores take their spans for one
 * service. What the user has configured stays as it is. An agent that is already there decides about the rest; one that is
 * started or attached later finds the identity in system properties.
 */
final class Identity {
    private static final AttributeKey<String> SERVICE = AttributeKey.stringKey("service.name");
    private static final AttributeKey<String> INSTANCE = AttributeKey.stringKey("service.instance.id");
    private static final String PREFIX = "weft.otel.";

    private Identity() {}

    /** Starts the agent and returns the resource with the identity on which both agree. */
    static synchronized Resource agree(Resource resource, ConfigProperties config) {
        boolean disabled = config.getBoolean("otel.sdk.disabled", false);
        String service = resource.getAttribute(SERVICE);
        String instance = resource.getAttribute(INSTANCE);
        boolean named = service != null && !service.startsWith("unknown_service");
        boolean second = System.getProperty(PREFIX + SERVICE.getKey()) != null;
        if (!disabled && (second || !named)) {
            Start.once(); // it knows a name for both
        }
        if (second) {
            return resource; // the agent has one identity only
        }
        if (!config.getMap("otel.resource.attributes").containsKey(INSTANCE.getKey())) {
            instance = or(ofAgent(Identity::instance), instance);
        }
        if (!named) {
            service = or(ofAgent(Identity::service), service);
        }
        tell(service, instance);
        if (!disabled) {
            Start.once();
        }
        if (instance == null) {
            instance = ofAgent(Identity::instance);
            tell(service, instance);
        }
        return resource.toBuilder().put(SERVICE, service).put(INSTANCE, instance).build();
    }

    private static void tell(String service, String instance) {
        ofAgent(() -> {
            sdk(service, instance);
            return null;
        });
        if (service != null) {
            System.setProperty(PREFIX + SERVICE.getKey(), service);
        }
        if (instance != null) {
            System.setProperty(PREFIX + INSTANCE.getKey(), instance);
        }
    }

    private interface Call {
        String of();
    }

    private static String ofAgent(Call call) {
        try {
            return call.of();
        } catch (UnsatisfiedLinkError e) {
            return null; // no agent
        }
    }

    private static String or(String first, String second) {
        return first == null ? second : first;
    }

    /** Returns service.name of the agent's session; null without one. */
    private static native String service();

    /** Returns service.instance.id of the agent's session; null without one. */
    private static native String instance();

    private static native void sdk(String service, String instance);
}
