// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.checkout;

import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** The shop in Spring Boot; its options are those of Spring. */
@SpringBootApplication
public class SpringServer {
  public static void main(String[] args) throws Exception {
    SpringApplication.run(SpringServer.class, args).getBean(Checkout.class).serve();
    System.exit(0);
  }

  @Bean
  Checkout checkout(DataSource database) throws SQLException {
    return new Checkout(database);
  }

  @RestController
  static class CheckoutController {
    private final Checkout checkout;

    CheckoutController(Checkout checkout) {
      this.checkout = checkout;
    }

    @GetMapping("/checkout/{client}")
    String buy(@PathVariable("client") int client) throws SQLException, InterruptedException {
      return checkout.buy();
    }
  }
}
