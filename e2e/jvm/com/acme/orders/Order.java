// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.orders;

/** A limit order: buys or sells a quantity for at most, or at least, its price. */
final class Order {
  final boolean buy;
  final int price;
  int open;

  Order(boolean buy, int price, int quantity) {
    this.buy = buy;
    this.price = price;
    this.open = quantity;
  }
}
