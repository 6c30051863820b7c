// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;

/** Jetty, queried by the JDK's HTTP client; the handler has one lock for all requests. */
final class WebServer {
  private WebServer() {}

  static long run(int operations) throws Exception {
    Server server = new Server();
    ServerConnector connector = new ServerConnector(server);
    connector.setHost("127.0.0.1");
    server.addConnector(connector);
    server.setHandler(new Counter());
    server.start();
    URI address = URI.create("http://127.0.0.1:" + connector.getLocalPort() + "/");
    HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    long sum =
        Load.clients(
            me -> {
              long mine = 0;
              for (int i = 0; i < operations; i++) {
                HttpRequest request = HttpRequest.newBuilder(address.resolve("/" + me + "/" + i)).build();
                mine += client.send(request, HttpResponse.BodyHandlers.ofString()).body().length();
              }
              return mine;
            });
    server.stop();
    return sum;
  }

  private static final class Counter extends Handler.Abstract {
    private long served;

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
      synchronized (this) {
        served++;
        Thread.onSpinWait();
      }
      String text = "you asked for " + request.getHttpURI().getPath();
      response.write(true, ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)), callback);
      return true;
    }
  }
}
