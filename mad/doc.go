// Package mad is the wire format of management datagrams: the header that all of them share (section 13.4.2), the messages of the communication
// manager (section 12.6 to 12.11, annex A11), subnet management packets (chapter 14), subnet administration and performance management.
//
// Others may import it: its API is kept stable.
package mad
