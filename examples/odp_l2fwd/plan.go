// SPDX-License-Identifier: Apache-2.0

package main

// A plan says which worker serves which queue of which interface, as odp_l2fwd
// deals them out: fewer workers than interfaces share the interfaces round robin;
// otherwise worker w serves interface w mod n, and an interface has as many
// queues as it has workers.
type plan struct {
	rxQueues []int    // receive queues (or handles) wanted per interface
	txQueues []int    // send queues wanted per interface
	pairs    [][]pair // per worker
}

// pair is one receive queue and the send queue of the interface it forwards to.
type pair struct {
	in, rxQ  int // interface and queue to receive from
	out, txQ int // interface and queue to send to
}

// makePlan deals len(out) interfaces to workers; out[i] is where i sends to.
func makePlan(workers int, out []int) plan {
	n := len(out)
	p := plan{rxQueues: make([]int, n), txQueues: make([]int, n), pairs: make([][]pair, workers)}
	for k := 0; k < max(workers, n); k++ {
		w, i := k%workers, k%n
		p.pairs[w] = append(p.pairs[w], pair{in: i, rxQ: p.rxQueues[i], out: out[i], txQ: p.txQueues[out[i]]})
		p.rxQueues[i]++
		p.txQueues[out[i]]++
	}
	for i := range p.txQueues {
		p.txQueues[i] = max(p.txQueues[i], 1)
	}
	return p
}

// fit folds the wanted queue numbers onto what the devices gave, and reports
// the interfaces whose queues several workers share.
func (p *plan) fit(gotRx, gotTx []int) (sharedRx, sharedTx []int) {
	for i := range p.rxQueues {
		if gotRx[i] < p.rxQueues[i] {
			sharedRx = append(sharedRx, i)
		}
		if gotTx[i] < p.txQueues[i] {
			sharedTx = append(sharedTx, i)
		}
	}
	for w := range p.pairs {
		for k := range p.pairs[w] {
			pr := &p.pairs[w][k]
			pr.rxQ %= gotRx[pr.in]
			pr.txQ %= gotTx[pr.out]
		}
	}
	return sharedRx, sharedTx
}
