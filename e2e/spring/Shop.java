// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.shop;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** A shop whose orders need a connection to the database for longer than its pool can offer. */
@SpringBootApplication
public class Shop {
  public static void main(String[] args) {
    SpringApplication.run(Shop.class, args);
  }

  @RestController
  static class OrderController {
    private final Orders orders;

    OrderController(Orders orders) {
      this.orders = orders;
    }

    @GetMapping("/order/{account}")
    String order(@PathVariable("account") int account) {
      return orders.place(account, System.nanoTime());
    }

    /** Returns how long all orders waited for a connection. */
    @GetMapping("/waited")
    String waited() {
      return Long.toString(orders.waited());
    }
  }
}
