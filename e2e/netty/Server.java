// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.quotes;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;

/** Answers requests for prices. Its handler waits for the lock of the prices on an event loop, which serves no other connection meanwhile. */
final class Server implements AutoCloseable {
  private static final int LOOPS = 4, LONGEST = 1 << 16;

  final Channel channel;
  private final Prices prices;
  private final EventLoopGroup acceptor = new NioEventLoopGroup(1), loops = new NioEventLoopGroup(LOOPS);

  Server(Prices prices) throws InterruptedException {
    this.prices = prices;
    channel = new ServerBootstrap().group(acceptor, loops).channel(NioServerSocketChannel.class).childHandler(new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel connection) {
        connection.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(LONGEST), new QuoteHandler());
      }
    }).bind("127.0.0.1", 0).sync().channel();
  }

  @Override
  public void close() throws InterruptedException {
    channel.close().sync();
    acceptor.shutdownGracefully(0, 1, java.util.concurrent.TimeUnit.SECONDS).sync();
    loops.shutdownGracefully(0, 1, java.util.concurrent.TimeUnit.SECONDS).sync();
  }

  private final class QuoteHandler extends SimpleChannelInboundHandler<FullHttpRequest> {
    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
      ByteBuf body = ByteBufUtil.writeUtf8(context.alloc(), Integer.toString(prices.of(request.uri().substring(1))));
      DefaultFullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, body);
      response.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, body.readableBytes());
      context.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE_ON_FAILURE);
    }
  }
}
