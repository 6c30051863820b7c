// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.quotes;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.concurrent.Promise;
import java.net.SocketAddress;

/** A connection to the server. A thread sends a request and waits for the answer. */
final class Client {
  private static final int LONGEST = 1 << 16;

  private final Channel channel;
  private volatile Promise<Void> answered;

  Client(EventLoopGroup loops, SocketAddress server) throws InterruptedException {
    channel = new Bootstrap().group(loops).channel(NioSocketChannel.class).handler(new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel connection) {
        connection.pipeline().addLast(new HttpClientCodec(), new HttpObjectAggregator(LONGEST), new Answers());
      }
    }).connect(server).sync().channel();
  }

  void ask() throws InterruptedException {
    answered = channel.eventLoop().newPromise();
    channel.writeAndFlush(new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/WEFT"));
    answered.sync();
  }

  private final class Answers extends SimpleChannelInboundHandler<FullHttpResponse> {
    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpResponse response) {
      answered.setSuccess(null);
    }
  }
}
