// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.prices;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.concurrent.ExecutionException;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.threads.VirtualThreadExecutor;

/** Serves /square/NUMBER on virtual threads. Arguments: host, port, milliseconds of each answer, how many of the first requests wait for each other. */
public final class CrowdServer {
  private static final String MANY = "20000";

  public static void main(String[] args) throws Exception {
    int millis = Integer.parseInt(args[2]);
    Backends backends = new Backends(Integer.parseInt(args[3]));
    Tomcat tomcat = new Tomcat();
    File base = Files.createTempDirectory("crowd").toFile();
    base.deleteOnExit();
    tomcat.setBaseDir(base.getPath());
    tomcat.setHostname(args[0]);
    tomcat.setPort(Integer.parseInt(args[1]));
    tomcat.getConnector().setProperty("address", args[0]);
    tomcat.getConnector().setProperty("maxConnections", MANY);
    tomcat.getConnector().setProperty("acceptCount", MANY);
    tomcat.getConnector().setProperty("maxKeepAliveRequests", "-1");
    tomcat.getConnector().setProperty("keepAliveTimeout", "600000");
    tomcat.getConnector().getProtocolHandler().setExecutor(new VirtualThreadExecutor("request-"));
    Context context = tomcat.addContext("", base.getPath());
    Tomcat.addServlet(context, "square", new HttpServlet() {
      @Override
      protected void doGet(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
        try {
          response.getWriter().print(backends.square(Integer.parseInt(request.getPathInfo().substring(1)), millis));
        } catch (InterruptedException | ExecutionException e) {
          throw new ServletException(e);
        }
      }
    });
    context.addServletMappingDecoded("/square/*", "square");
    Tomcat.addServlet(context, "counts", new HttpServlet() {
      @Override
      protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.getWriter().print(backends.counts());
      }
    });
    context.addServletMappingDecoded("/counts", "counts");
    tomcat.start();
    System.out.println("ready");
    while (System.in.read() != -1) {} // until its input ends
    System.exit(0);
  }
}
