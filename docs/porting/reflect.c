/* SPDX-License-Identifier: Apache-2.0
 *
 * Reflects what an interface receives, and counts it by kind: the example of
 * docs/porting, in C on ODP. reflect INTERFACE WORKERS PACKETS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <odp_api.h>
#include <odp/helper/odph_api.h>

enum { BURST = 32, QUEUES = 2, FRAMES = 64, LEN = 60 };
enum { UDP, TCP, ARP, OTHER, KINDS };

typedef struct { uint64_t seen[KINDS]; } counts_t;	/* of one queue, behind its atomic context */

static counts_t counts[QUEUES];
static odp_pktout_queue_t out;
static odp_atomic_u64_t total;
static uint64_t limit;

static void die(const char *what)
{
	fprintf(stderr, "reflect: %s failed\n", what);
	exit(1);
}

static int kind_of(odp_packet_t pkt)
{
	if (odp_packet_has_udp(pkt))
		return UDP;
	if (odp_packet_has_tcp(pkt))
		return TCP;
	return odp_packet_has_arp(pkt) ? ARP : OTHER;
}

static void give(odp_packet_t pkt[], int num)
{
	int sent = odp_pktout_send(out, pkt, num);

	if (sent < 0)
		sent = 0;
	if (sent < num)	/* the device is full: drop */
		odp_packet_free_multi(&pkt[sent], num - sent);
}

static int worker(void *arg ODP_UNUSED)
{
	uint64_t wait = odp_schedule_wait_time(10 * ODP_TIME_MSEC_IN_NS);
	odp_event_t ev[BURST];
	odp_packet_t pkt[BURST];
	odp_queue_t from;

	while (odp_atomic_load_u64(&total) < limit) {
		int num = odp_schedule_multi(&from, wait, ev, BURST);

		if (num <= 0)
			continue;
		counts_t *c = odp_queue_context(from);

		odp_packet_from_event_multi(pkt, ev, num);
		for (int i = 0; i < num; i++) {
			odph_ethhdr_t *eth = odp_packet_data(pkt[i]);
			odph_ethaddr_t dst = eth->dst;

			c->seen[kind_of(pkt[i])]++;
			eth->dst = eth->src;
			eth->src = dst;
		}
		give(pkt, num);
		odp_atomic_add_u64(&total, num);
	}
	odp_schedule_pause();	/* what was scheduled in advance goes back too */
	for (int num; (num = odp_schedule_multi(NULL, ODP_SCHED_NO_WAIT, ev, BURST)) > 0;)
		odp_event_free_multi(ev, num);
	return 0;
}

/* Every second frame is UDP, the others are ARP. */
static void inject(odp_pool_t pool)
{
	for (int i = 0; i < FRAMES; i++) {
		odp_packet_t pkt = odp_packet_alloc(pool, LEN);

		if (pkt == ODP_PACKET_INVALID)
			die("odp_packet_alloc");
		uint8_t *b = odp_packet_data(pkt);

		memset(b, 0, LEN);
		b[0] = 2, b[5] = 2, b[6] = 2, b[11] = 1, b[12] = 8, b[13] = i & 1 ? 6 : 0;
		if (!(i & 1)) {
			odph_ipv4hdr_t *ip = (void *)(b + 14);

			ip->ver_ihl = 0x45;
			ip->tot_len = odp_cpu_to_be_16(LEN - 14);
			ip->ttl = 64;
			ip->proto = ODPH_IPPROTO_UDP;
			odp_packet_l3_offset_set(pkt, 14);
			odph_ipv4_csum_update(pkt);
			b[39] = LEN - 34;	/* the length of UDP */
		}
		give(&pkt, 1);
	}
}

int main(int argc, char *argv[])
{
	if (argc != 4)
		die("reading the command line: reflect INTERFACE WORKERS PACKETS");
	int workers = atoi(argv[2]);

	limit = strtoull(argv[3], NULL, 10);
	odp_instance_t inst;

	if (odp_init_global(&inst, NULL, NULL) || odp_init_local(inst, ODP_THREAD_CONTROL))
		die("odp_init");
	odp_atomic_init_u64(&total, 0);
	odp_schedule_config(NULL);

	odp_pool_param_t pp;

	odp_pool_param_init(&pp);
	pp.type = ODP_POOL_PACKET;
	pp.pkt.num = 4096;
	pp.pkt.len = 1518;
	odp_pool_t pool = odp_pool_create("reflect", &pp);

	odp_pktio_param_t param;

	odp_pktio_param_init(&param);
	param.in_mode = ODP_PKTIN_MODE_SCHED;
	odp_pktio_t port = pool == ODP_POOL_INVALID ? ODP_PKTIO_INVALID : odp_pktio_open(argv[1], pool, &param);

	if (port == ODP_PKTIO_INVALID)
		die("odp_pktio_open");
	odp_pktio_capability_t capa;
	odp_pktin_queue_param_t in;
	odp_queue_t queue[QUEUES];

	odp_pktio_capability(port, &capa);
	odp_pktin_queue_param_init(&in);
	in.num_queues = ODPH_MIN((uint32_t)QUEUES, capa.max_input_queues);
	in.hash_enable = in.num_queues > 1;
	in.hash_proto.proto.ipv4_udp = 1;
	in.queue_param.sched.sync = ODP_SCHED_SYNC_ATOMIC;
	if (odp_pktin_queue_config(port, &in) || odp_pktout_queue_config(port, NULL) ||
	    odp_pktout_queue(port, &out, 1) != 1)
		die("queue configuration");
	int num_queues = odp_pktin_event_queue(port, queue, QUEUES);

	for (int i = 0; i < num_queues; i++)
		odp_queue_context_set(queue[i], &counts[i], sizeof(counts[i]));
	if (odp_pktio_start(port))
		die("odp_pktio_start");
	inject(pool);

	odph_thread_t thread[ODP_THREAD_COUNT_MAX];
	odph_thread_common_param_t common;
	odph_thread_param_t thr;
	odp_cpumask_t cpus;

	workers = odp_cpumask_default_worker(&cpus, workers);
	odph_thread_common_param_init(&common);
	odph_thread_param_init(&thr);
	common.instance = inst;
	common.cpumask = &cpus;
	common.share_param = 1;
	thr.start = worker;
	thr.thr_type = ODP_THREAD_WORKER;
	if (odph_thread_create(thread, &common, &thr, workers) != workers || odph_thread_join(thread, workers) != workers)
		die("threads");

	odp_event_t ev;

	odp_pktio_stop(port);
	while ((ev = odp_schedule(NULL, odp_schedule_wait_time(100 * ODP_TIME_MSEC_IN_NS))) != ODP_EVENT_INVALID)
		odp_event_free(ev);
	odp_pktio_close(port);
	if (odp_pool_destroy(pool))
		die("odp_pool_destroy");
	for (int i = 1; i < num_queues; i++)
		for (int k = 0; k < KINDS; k++)
			counts[0].seen[k] += counts[i].seen[k];
	printf("udp %lu, tcp %lu, arp %lu, other %lu\n", counts[0].seen[UDP], counts[0].seen[TCP], counts[0].seen[ARP], counts[0].seen[OTHER]);
	return odp_term_local() < 0 || odp_term_global(inst);
}
