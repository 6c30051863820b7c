// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package waits

// platform are the packages of the JDK and of the languages' runtimes.
var platform = []string{
	"java.", "javax.", "jdk.", "sun.", "com.sun.", "kotlin.", "kotlinx.", "scala.", "groovy.", "org.codehaus.groovy.", "org.apache.groovy.",
	"clojure.",
}

// libraries are the packages of frameworks and libraries: the application is what calls them.
var libraries = []string{
	// Frameworks and servers.
	"org.springframework.", "org.apache.catalina.", "org.apache.coyote.", "org.apache.tomcat.", "org.apache.jasper.", "org.eclipse.jetty.",
	"io.undertow.", "org.jboss.", "org.wildfly.", "org.xnio.", "io.quarkus.", "io.smallrye.", "io.micronaut.", "io.helidon.", "io.vertx.",
	"jakarta.", "org.glassfish.", "com.google.inject.", "org.apache.cxf.", "org.apache.camel.", "org.apache.dubbo.", "com.alibaba.dubbo.",
	"play.api.", "akka.", "org.apache.pekko.", "ratpack.", "spark.Spark", "io.javalin.", "org.aspectj.", "net.bytebuddy.", "net.sf.cglib.",
	"javassist.", "org.quartz.", "com.netflix.hystrix.", "io.github.resilience4j.",
	// Input, output and remote calls.
	"io.netty.", "reactor.", "rx.", "io.reactivex.", "io.grpc.", "okhttp3.", "okio.", "retrofit2.", "feign.", "org.apache.http.",
	"org.apache.hc.", "org.apache.commons.", "org.asynchttpclient.", "org.apache.thrift.", "com.twitter.finagle.", "com.rabbitmq.",
	"org.apache.kafka.", "kafka.Kafka", "kafka.cluster.", "kafka.controller.", "kafka.coordinator.", "kafka.log.", "kafka.network.", "kafka.raft.",
	"kafka.server.", "kafka.utils.", "org.apache.activemq.", "org.apache.pulsar.client.", "software.amazon.awssdk.", "com.amazonaws.",
	"com.azure.", "com.google.api.", "com.google.cloud.", "com.google.common.", "com.google.protobuf.", "io.rsocket.", "com.lmax.disruptor.",
	"org.jctools.", "org.apache.zookeeper.", "org.apache.curator.", "org.jgroups.", "io.nats.", "org.apache.rocketmq.client.", "com.squareup.",
	"com.netflix.", "dev.failsafe.", "net.jodah.", "com.jcraft.jsch.", "org.apache.sshd.", "org.bouncycastle.", "com.nimbusds.", "io.temporal.",
	// Data stores.
	"com.zaxxer.hikari.", "com.mchange.", "com.alibaba.druid.", "io.agroal.", "org.vibur.", "org.hibernate.", "org.apache.ibatis.",
	"org.mybatis.", "org.jooq.", "org.jdbi.", "org.flywaydb.", "liquibase.", "org.postgresql.", "com.mysql.", "org.mariadb.", "oracle.",
	"com.microsoft.sqlserver.", "org.h2.", "org.hsqldb.", "org.apache.derby.", "org.sqlite.", "com.mongodb.", "org.bson.", "redis.clients.",
	"io.lettuce.", "org.redisson.", "com.datastax.", "org.elasticsearch.client.", "co.elastic.clients.", "org.opensearch.client.",
	"net.sf.ehcache.", "org.ehcache.", "com.github.benmanes.caffeine.", "com.hazelcast.", "org.infinispan.", "io.r2dbc.", "net.spy.memcached.",
	"org.apache.lucene.", "com.couchbase.client.", "org.neo4j.driver.", "org.apache.calcite.", "org.apache.avro.", "org.apache.parquet.",
	// Logs, metrics, formats.
	"ch.qos.logback.", "org.slf4j.", "org.apache.logging.", "org.apache.log4j.", "io.micrometer.", "io.opentelemetry.", "io.prometheus.",
	"com.codahale.metrics.", "io.sentry.", "com.fasterxml.", "com.google.gson.", "org.yaml.", "org.thymeleaf.", "freemarker.", "org.apache.velocity.",
	// Tests and launchers.
	"org.junit.", "junit.", "org.testng.", "org.gradle.", "org.apache.maven.", "org.openjdk.jmh.",
}

// generated marks classes that frameworks and the JVM make at run time. The application's own method is the next frame.
var generated = []string{"$$SpringCGLIB$$", "$$EnhancerBySpringCGLIB$$", "$$FastClassBy", "$$Lambda", "$Proxy", "_$$_Weld", "_$$_javassist", "$HibernateProxy$"}

// classLoading are the methods that lock what a class loader keeps for the name of a class: an Object without a name.
var classLoading = []string{
	"java.lang.ClassLoader.loadClass", "jdk.internal.loader.BuiltinClassLoader.loadClass", "org.apache.catalina.loader.WebappClassLoaderBase.loadClass",
}
