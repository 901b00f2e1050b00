/* Stands in for libibverbs and its devices, which no test machine has: two ports a device, one of
 * InfiniBand (ib0), one of RoCE (roce0), and one that takes the request to load a path and does
 * nothing (soft0); messages in memory between all contexts of this process. It is stricter than a
 * device may be: each transition must have exactly the attributes of InfiniBand's table, each
 * request must lie in registered memory. Nothing here tells what real hardware does. */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#undef ibv_query_port
#undef ibv_reg_mr

#define EXPORTED __attribute__((visibility("default")))
#define PORTS 2
#define LMC 2
#define DEPTH 256
/* A packet that does not get through is tried so often. */
#define TRIES 200
#define GRH 40

struct work { uint64_t id; char *bytes; uint32_t length; struct work *next; };
struct list { struct work *first, *last; int count; };

struct queue { struct ibv_cq cq; struct ibv_wc done[4 * DEPTH]; int count, notify; };
struct memory { struct ibv_mr mr; struct memory *next; };
struct handle { struct ibv_ah ah; struct ibv_ah_attr attr; };
struct pair {
    struct ibv_qp qp;
    struct ibv_qp_attr attr;
    int knows_alternate, tries;
    struct list sends, receives;
    struct pair *next;
};
struct host {
    struct ibv_context context;
    int number, events, is_up[PORTS + 1];
    struct host *next;
};

static struct ibv_device ib = { .name = "ib0", .node_type = IBV_NODE_CA };
static struct ibv_device roce = { .name = "roce0", .node_type = IBV_NODE_CA };
static struct ibv_device soft = { .name = "soft0", .node_type = IBV_NODE_CA };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct host *hosts;
static struct pair *pairs;
static struct memory *memories;
static int opened, next_number = 0x100;

static int is_ethernet(struct host *host) { return host->context.device == &roce; }
static struct host *host_of(struct ibv_context *context) { return (struct host *)context; }
static uint16_t lid(struct host *host, int port) {
    return is_ethernet(host) ? 0 : (uint16_t)((host->number * 4 + port) << LMC);
}
static void gid(struct host *host, int port, union ibv_gid *out) {
    memset(out, 0, sizeof *out);
    out->raw[0] = 0xfe;
    out->raw[1] = 0x80;
    out->raw[14] = (uint8_t)host->number;
    out->raw[15] = (uint8_t)port;
}

static void tell(struct host *host, enum ibv_event_type what, struct pair *pair, int port) {
    struct ibv_async_event event;
    memset(&event, 0, sizeof event);
    event.event_type = what;
    if (pair)
        event.element.qp = &pair->qp;
    else
        event.element.port_num = port;
    if (write(host->events, &event, sizeof event) < 0)
        abort();
}

static void complete(struct ibv_cq *of, struct ibv_wc wc) {
    struct queue *queue = (struct queue *)of;
    if (queue->count == of->cqe)
        abort();
    queue->done[queue->count++] = wc;
    if (queue->notify && write(of->channel->refcnt, &of, sizeof of) < 0)
        abort();
    queue->notify = 0;
}

static void put(struct list *list, struct work work) {
    struct work *copy = malloc(sizeof work);
    *copy = work;
    copy->next = NULL;
    if (list->last)
        list->last->next = copy;
    else
        list->first = copy;
    list->last = copy;
    list->count++;
}

static struct work take(struct list *list) {
    struct work *first = list->first, work = *first;
    list->first = first->next;
    if (!list->first)
        list->last = NULL;
    list->count--;
    free(first);
    return work;
}

static struct pair *find(uint32_t number) {
    struct pair *pair = pairs;
    while (pair && pair->qp.qp_num != number)
        pair = pair->next;
    return pair;
}

/* Whether packets go from a host by one way to a port of another that is up: its number, or 0. */
static int arrives_at(struct host *from, struct ibv_ah_attr *way, struct host *to) {
    if (from->is_up[way->port_num] == 0)
        return 0;
    for (int port = 1; port <= PORTS; port++) {
        union ibv_gid there;
        gid(to, port, &there);
        int is_there = is_ethernet(to)
            ? way->is_global && !memcmp(&there, &way->grh.dgid, sizeof there)
            : way->dlid >> LMC == lid(to, port) >> LMC && way->dlid;
        if (is_there && to->is_up[port])
            return port;
    }
    return 0;
}

static void break_down(struct pair *pair, enum ibv_wc_status why) {
    pair->attr.qp_state = IBV_QPS_ERR;
    for (int is_send = 1; is_send >= 0; is_send--) {
        struct list *list = is_send ? &pair->sends : &pair->receives;
        while (list->first) {
            struct ibv_wc wc = { .wr_id = take(list).id, .status = why, .qp_num = pair->qp.qp_num };
            complete(is_send ? pair->qp.send_cq : pair->qp.recv_cq, wc);
            why = IBV_WC_WR_FLUSH_ERR;
        }
    }
}

/* The alternate path takes over, here and at a peer that is armed. */
static void migrate(struct pair *pair) {
    if (pair->attr.path_mig_state != IBV_MIG_ARMED)
        return;
    pair->attr.path_mig_state = IBV_MIG_MIGRATED;
    pair->attr.ah_attr = pair->attr.alt_ah_attr;
    pair->attr.port_num = pair->attr.alt_port_num;
    tell(host_of(pair->qp.context), IBV_EVENT_PATH_MIG, pair, 0);
    struct pair *peer = find(pair->attr.dest_qp_num);
    if (peer)
        migrate(peer);
}

static void arm(struct pair *a, struct pair *b) {
    if (a->attr.path_mig_state == IBV_MIG_MIGRATED || b->attr.path_mig_state == IBV_MIG_MIGRATED)
        return;
    a->attr.path_mig_state = b->attr.path_mig_state = IBV_MIG_ARMED;
}

/* Delivers one message of a reliable pair; 0 where nothing moved. */
static int deliver(struct pair *pair) {
    struct pair *peer = find(pair->attr.dest_qp_num);
    if (pair->attr.qp_state != IBV_QPS_RTS || !pair->sends.first)
        return 0;
    int is_ready = peer && peer->attr.dest_qp_num == pair->qp.qp_num &&
        peer->attr.rq_psn == pair->attr.sq_psn &&
        (peer->attr.qp_state == IBV_QPS_RTR || peer->attr.qp_state == IBV_QPS_RTS) &&
        arrives_at(host_of(pair->qp.context), &pair->attr.ah_attr, host_of(peer->qp.context));
    if (!is_ready) {
        if (++pair->tries < TRIES)
            return 0;
        pair->tries = 0;
        if (pair->attr.path_mig_state == IBV_MIG_ARMED)
            migrate(pair);
        else
            break_down(pair, IBV_WC_RETRY_EXC_ERR);
        return 1;
    }
    pair->tries = 0;
    if (!peer->receives.first)
        return 0;
    struct work from = take(&pair->sends), to = take(&peer->receives);
    struct ibv_wc sent = { .wr_id = from.id, .opcode = IBV_WC_SEND, .qp_num = pair->qp.qp_num };
    struct ibv_wc got = { .wr_id = to.id, .opcode = IBV_WC_RECV, .byte_len = from.length,
        .qp_num = peer->qp.qp_num };
    if (from.length > to.length) {
        sent.status = IBV_WC_REM_INV_REQ_ERR;
        got.status = IBV_WC_LOC_LEN_ERR;
    } else if (from.length) {
        memcpy(to.bytes, from.bytes, from.length);
    }
    complete(peer->qp.recv_cq, got);
    complete(pair->qp.send_cq, sent);
    if (sent.status) {
        break_down(pair, IBV_WC_WR_FLUSH_ERR);
        break_down(peer, IBV_WC_WR_FLUSH_ERR);
    } else {
        arm(pair, peer);
    }
    return 1;
}

static void go_on(void) {
    for (int moved = 1; moved;) {
        moved = 0;
        for (struct pair *pair = pairs; pair; pair = pair->next)
            moved |= pair->qp.qp_type == IBV_QPT_RC && deliver(pair);
    }
}

/* Whether a request lies in memory that is registered. */
static int as_work(struct ibv_sge *list, int count, uint64_t id, struct work *out) {
    memset(out, 0, sizeof *out);
    out->id = id;
    if (count == 0)
        return 0;
    if (count != 1 || list->length == 0)
        return EINVAL;
    for (struct memory *memory = memories; memory; memory = memory->next) {
        uint64_t start = (uint64_t)(uintptr_t)memory->mr.addr;
        if (memory->mr.lkey == list->lkey && list->addr >= start &&
            list->addr + list->length <= start + memory->mr.length) {
            out->bytes = (char *)(uintptr_t)list->addr;
            out->length = list->length;
            return 0;
        }
    }
    return EINVAL;
}

static void deliver_datagram(struct pair *pair, struct ibv_send_wr *wr, struct work work) {
    struct handle *handle = (struct handle *)wr->wr.ud.ah;
    struct pair *peer = find(wr->wr.ud.remote_qpn);
    struct ibv_wc sent = { .wr_id = work.id, .opcode = IBV_WC_SEND, .qp_num = pair->qp.qp_num };
    complete(pair->qp.send_cq, sent);
    if (!peer || peer->qp.qp_type != IBV_QPT_UD || peer->attr.qkey != wr->wr.ud.remote_qkey ||
        !peer->receives.first)
        return;
    int port = arrives_at(host_of(pair->qp.context), &handle->attr, host_of(peer->qp.context));
    if (port != peer->attr.port_num || work.length + GRH > peer->receives.first->length)
        return;
    struct work to = take(&peer->receives);
    memcpy(to.bytes + GRH, work.bytes, work.length);
    struct ibv_wc got = { .wr_id = to.id, .opcode = IBV_WC_RECV, .byte_len = work.length + GRH,
        .qp_num = peer->qp.qp_num, .src_qp = pair->qp.qp_num, .wc_flags = IBV_WC_GRH };
    complete(peer->qp.recv_cq, got);
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad) {
    struct pair *pair = (struct pair *)qp;
    struct work work;
    pthread_mutex_lock(&lock);
    int result = as_work(wr->sg_list, wr->num_sge, wr->wr_id, &work);
    if (wr->next || wr->opcode != IBV_WR_SEND || !(wr->send_flags & IBV_SEND_SIGNALED) ||
        pair->attr.qp_state != IBV_QPS_RTS)
        result = EINVAL;
    if (!result && pair->sends.count == (int)pair->attr.cap.max_send_wr)
        result = ENOMEM;
    if (result)
        *bad = wr;
    else if (qp->qp_type == IBV_QPT_UD)
        deliver_datagram(pair, wr, work);
    else
        put(&pair->sends, work);
    go_on();
    pthread_mutex_unlock(&lock);
    return result;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) {
    struct pair *pair = (struct pair *)qp;
    struct work work;
    pthread_mutex_lock(&lock);
    int result = as_work(wr->sg_list, wr->num_sge, wr->wr_id, &work);
    if (wr->next || pair->attr.qp_state == IBV_QPS_RESET)
        result = EINVAL;
    if (!result && pair->receives.count == (int)pair->attr.cap.max_recv_wr)
        result = ENOMEM;
    if (result)
        *bad = wr;
    else
        put(&pair->receives, work);
    go_on();
    pthread_mutex_unlock(&lock);
    return result;
}

static int poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc) {
    struct queue *queue = (struct queue *)cq;
    pthread_mutex_lock(&lock);
    go_on();
    int given = queue->count < count ? queue->count : count;
    memcpy(wc, queue->done, given * sizeof *wc);
    memmove(queue->done, queue->done + given, (queue->count - given) * sizeof *wc);
    queue->count -= given;
    pthread_mutex_unlock(&lock);
    return given;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only) {
    (void)solicited_only;
    pthread_mutex_lock(&lock);
    ((struct queue *)cq)->notify = 1;
    pthread_mutex_unlock(&lock);
    return 0;
}
