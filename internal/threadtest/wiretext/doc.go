// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package wiretext converts streams of the wire protocol to text and back: the test vectors of the protocol are in this form, with a line for
// each frame, section or record. Strings are in double quotes, with the escapes \", \\ and \xHH:
//
//	preamble version=1
//	hello session=064a… wall=1700000000000000000 monotonic=5000 pid=42 acked=0 secret=0001… "service.name"="orders" headers "authorization"="…"
//	thread id=1 flags=1 name="main" group="main"
//	class id=7 name="com.acme.OrderBook"
//	method id=3 class=7 name="add" signature="(I)V" file="OrderBook.java" lines=0:41,9:42
//	stack id=2 flags=0 frames=3:9,4:-1
//	batch sequence=1 watermark=9000 before=0
//	 section thread=1
//	  event contendedEnter time=6000 peer=12 lock=7/1a2b3c4d stack=2
//	aggregate sequence=2 watermark=9400 before=1 from=5000 to=9300 scale=2
//	 series park class=7 stack=2 sum=12 max=7 zero=0 offset=9 buckets=1,1
//	end time=9500 reason=1
//	welcome acked=0
//	ack sequence=1
//	refuse code=3 message="…"
//	control id=1 "depth"="8"
//	status id=1 error="" "depth"="8"
//
// The line of an overflow series ends with the word overflow. Fields that are 0 may be omitted. The flags of an event are their names
// (snapshot) at the end of the line; flags without a name are written as flags=N. Empty lines and lines that begin with # are ignored. A line
// such as "raw 00ff 17" contains literal bytes, for newer or broken streams.
//
// A vector file contains one direction of a connection: the text; after a line "-- hex --", its bytes in hexadecimal; after "-- read --", the
// text that a reader produces from the bytes, if it differs (unknown kinds are omitted, invalid UTF-8 is replaced); after "-- error --", the
// receiver's error message, if reading fails. The test TestVectors writes the parts after the text with -update.
package wiretext
