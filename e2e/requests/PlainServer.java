// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.checkout;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.sql.SQLException;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.threads.VirtualThreadExecutor;

/** The shop in an embedded Tomcat. Arguments: host, port, platform or virtual. */
public final class PlainServer {
  public static void main(String[] args) throws Exception {
    HikariConfig pool = new HikariConfig();
    pool.setJdbcUrl("jdbc:h2:mem:shop");
    pool.setMaximumPoolSize(Integer.getInteger("checkout.pool", 10));
    pool.setConnectionTimeout(600_000);
    Checkout checkout = new Checkout(new HikariDataSource(pool));
    Tomcat tomcat = new Tomcat();
    File base = Files.createTempDirectory("checkout").toFile();
    base.deleteOnExit();
    tomcat.setBaseDir(base.getPath());
    tomcat.setHostname(args[0]);
    tomcat.setPort(Integer.parseInt(args[1]));
    tomcat.getConnector().setProperty("address", args[0]);
    tomcat.getConnector().setProperty("maxThreads", "200");
    tomcat.getConnector().setProperty("minSpareThreads", "200");
    if (args[2].equals("virtual")) {
      tomcat.getConnector().getProtocolHandler().setExecutor(new VirtualThreadExecutor("request-"));
    }
    Context context = tomcat.addContext("", base.getPath());
    Tomcat.addServlet(context, "checkout", new CheckoutServlet(checkout));
    context.addServletMappingDecoded("/checkout/*", "checkout");
    tomcat.start();
    checkout.serve();
    System.exit(0);
  }

  private static final class CheckoutServlet extends HttpServlet {
    private static final long serialVersionUID = 1;
    private final transient Checkout checkout;

    CheckoutServlet(Checkout checkout) {
      this.checkout = checkout;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
      try {
        response.getWriter().print(checkout.buy());
      } catch (SQLException | InterruptedException e) {
        throw new ServletException(e);
      }
    }
  }
}
