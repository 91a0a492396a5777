package conform

import (
	"path"
	"slices"
	"strings"
)

// all are the tests, in the order of their numbers, whoever gave these.
var all = slices.SortedFunc(slices.Values(slices.Concat(
	grhTests, networkTests, congestionTests, headerTests, specialPKeyTests,
	completionTests, rnrTests, timeoutTests, nakTests, readTests, ackTests, packetTests, // RC requester
	responderTests, orderTests, duplicateTests, invalidTests, receiveTests, sayTests, flushTests, // RC responder
	ucTests, udTests, xrcTests,
	stateTests, errorTests, queueTests, windowTests, // chapters 10 and 11
	connectTests, refuseTests, // communication management
	receiverTests, linkLIDTests, linkStateTests, linkDataTests, linkFlowTests, linkLaneTests, linkPacketTests, switchTests, routerTests, // links
	mappingTests, allMappingTests, violationTests, routeTests, relayTests, trapTests, noKeyTests, keyTests, leaseTests, // subnet management
	timeTests, refusalTests, answerTests, smpPacketTests, classTests, administrationTests, performanceTests, counterTests, gmpPacketTests, // management
	nodeTests, switchInfoTests, guidTests, portInfoTests, partitionTests, arbitrationTests, forwardingTests, otherAttributeTests,
)), func(a, b *Test) int {
	return strings.Compare(a.ID[1:], b.ID[1:])
})

// Tests returns all tests.
func Tests() []*Test { return slices.Clone(all) }

// Match returns the tests whose id is the pattern or begins with it, or matches it where it has a *; lower case does too.
func Match(pattern string) (list []*Test) {
	p := strings.ToUpper(pattern)
	for _, t := range all {
		id := strings.ToUpper(t.ID)
		ok := strings.HasPrefix(id, p)
		if strings.Contains(p, "*") {
			ok, _ = path.Match(p, id)
		}
		if ok {
			list = append(list, t)
		}
	}
	return list
}
