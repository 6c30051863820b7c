// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.prices;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.threads.VirtualThreadExecutor;

/**
 * Serves prices. Arguments: host, port, and how many worker threads Tomcat has, or "virtual" for a virtual thread for each request. By default
 * there are more workers than clients, so some of them are idle.
 */
public final class PriceServer {
  private static final String WORKERS = "40";
  private static final int MOST = 200; // workers under load, as is Tomcat's default

  public static void main(String[] args) throws Exception {
    PriceList prices = new PriceList();
    Tomcat tomcat = new Tomcat();
    File base = Files.createTempDirectory("prices").toFile();
    base.deleteOnExit();
    tomcat.setBaseDir(base.getPath());
    tomcat.setHostname(args[0]);
    tomcat.setPort(Integer.parseInt(args[1]));
    tomcat.getConnector().setProperty("address", args[0]);
    String workers = args.length > 2 ? args[2] : WORKERS;
    if (workers.equals("virtual")) {
      tomcat.getConnector().getProtocolHandler().setExecutor(new VirtualThreadExecutor("request-"));
    } else {
      tomcat.getConnector().setProperty("minSpareThreads", workers);
      tomcat.getConnector().setProperty("maxThreads", Integer.toString(Math.max(MOST, Integer.parseInt(workers))));
    }
    tomcat.getConnector().setProperty("acceptCount", "1000");
    Context context = tomcat.addContext("", base.getPath());
    Tomcat.addServlet(context, "prices", new PriceServlet(prices));
    context.addServletMappingDecoded("/price/*", "prices");
    Tomcat.addServlet(context, "waited", new HttpServlet() {
      @Override
      protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.getWriter().print(prices.waited());
      }
    });
    context.addServletMappingDecoded("/waited", "waited");
    tomcat.start();
    Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, "price-reloader"))
        .scheduleWithFixedDelay(prices::reload, 20, 20, TimeUnit.MILLISECONDS);
    tomcat.getServer().await();
  }

  private static final class PriceServlet extends HttpServlet {
    private static final long serialVersionUID = 1;
    private final transient PriceList prices;

    PriceServlet(PriceList prices) {
      this.prices = prices;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
      int item = Integer.parseInt(request.getPathInfo().substring(1));
      response.getWriter().print(prices.price(item));
    }
  }
}
