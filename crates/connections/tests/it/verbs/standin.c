/* The exported functions of the stand-in: what is made, changed, asked and given back. */
#include "fabric.h"

EXPORTED struct ibv_device **ibv_get_device_list(int *count) {
    struct ibv_device **list = calloc(4, sizeof *list);
    list[0] = &ib;
    list[1] = &roce;
    list[2] = &soft;
    *count = 3;
    return list;
}
EXPORTED void ibv_free_device_list(struct ibv_device **list) { free(list); }
EXPORTED const char *ibv_get_device_name(struct ibv_device *device) { return device->name; }

EXPORTED struct ibv_context *ibv_open_device(struct ibv_device *device) {
    struct host *host = calloc(1, sizeof *host);
    int ends[2];
    if (pipe(ends))
        return NULL;
    pthread_mutex_lock(&lock);
    host->context.device = device;
    host->context.ops.post_send = post_send;
    host->context.ops.post_recv = post_recv;
    host->context.ops.poll_cq = poll_cq;
    host->context.ops.req_notify_cq = req_notify_cq;
    host->context.async_fd = ends[0];
    host->events = ends[1];
    host->number = ++opened;
    for (int port = 1; port <= PORTS; port++)
        host->is_up[port] = 1;
    host->next = hosts;
    hosts = host;
    pthread_mutex_unlock(&lock);
    return &host->context;
}

EXPORTED int ibv_close_device(struct ibv_context *context) {
    struct host *host = host_of(context), **at = &hosts;
    pthread_mutex_lock(&lock);
    while (*at != host)
        at = &(*at)->next;
    *at = host->next;
    close(context->async_fd);
    close(host->events);
    free(host);
    pthread_mutex_unlock(&lock);
    return 0;
}

EXPORTED int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event) {
    return read(context->async_fd, event, sizeof *event) == sizeof *event ? 0 : -1;
}
EXPORTED void ibv_ack_async_event(struct ibv_async_event *event) { (void)event; }

EXPORTED int ibv_query_port(struct ibv_context *context, uint8_t port,
                            struct _compat_ibv_port_attr *out) {
    struct ibv_port_attr *attr = (struct ibv_port_attr *)out;
    struct host *host = host_of(context);
    if (port < 1 || port > PORTS)
        return EINVAL;
    /* As the real one: no byte from port_cap_flags2 on. */
    memset(attr, 0, offsetof(struct ibv_port_attr, port_cap_flags2));
    attr->state = host->is_up[port] ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
    attr->max_mtu = IBV_MTU_4096;
    attr->active_mtu = is_ethernet(host) ? IBV_MTU_1024 : IBV_MTU_4096;
    attr->max_msg_sz = 1 << 24;
    attr->gid_tbl_len = 4;
    attr->lid = lid(host, port);
    attr->lmc = is_ethernet(host) ? 0 : LMC;
    attr->link_layer = is_ethernet(host) ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND;
    return 0;
}

EXPORTED int ibv_query_gid(struct ibv_context *context, uint8_t port, int index,
                           union ibv_gid *out) {
    if (port < 1 || port > PORTS || index < 0 || index > 3)
        return -1;
    gid(host_of(context), port, out);
    return 0;
}

EXPORTED struct ibv_pd *ibv_alloc_pd(struct ibv_context *context) {
    struct ibv_pd *pd = calloc(1, sizeof *pd);
    pd->context = context;
    return pd;
}
EXPORTED int ibv_dealloc_pd(struct ibv_pd *pd) { free(pd); return 0; }

EXPORTED struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access) {
    static uint32_t keys;
    if (length == 0 || access != IBV_ACCESS_LOCAL_WRITE)
        return errno = EINVAL, NULL;
    struct memory *memory = calloc(1, sizeof *memory);
    pthread_mutex_lock(&lock);
    memory->mr = (struct ibv_mr){ .context = pd->context, .pd = pd, .addr = addr,
        .length = length, .lkey = ++keys };
    memory->next = memories;
    memories = memory;
    pthread_mutex_unlock(&lock);
    return &memory->mr;
}

EXPORTED int ibv_dereg_mr(struct ibv_mr *mr) {
    struct memory **at = &memories;
    pthread_mutex_lock(&lock);
    while (&(*at)->mr != mr)
        at = &(*at)->next;
    *at = (*at)->next;
    free(mr);
    pthread_mutex_unlock(&lock);
    return 0;
}

/* The field `refcnt` holds the end of the pipe that is written to. */
EXPORTED struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context) {
    struct ibv_comp_channel *channel = calloc(1, sizeof *channel);
    int ends[2];
    if (pipe(ends))
        return NULL;
    channel->context = context;
    channel->fd = ends[0];
    channel->refcnt = ends[1];
    return channel;
}
EXPORTED int ibv_destroy_comp_channel(struct ibv_comp_channel *channel) {
    close(channel->fd);
    close(channel->refcnt);
    free(channel);
    return 0;
}

EXPORTED struct ibv_cq *ibv_create_cq(struct ibv_context *context, int entries, void *user,
                                      struct ibv_comp_channel *channel, int vector) {
    if (entries < 1 || entries > 4 * DEPTH || vector)
        return errno = EINVAL, NULL;
    struct queue *queue = calloc(1, sizeof *queue);
    queue->cq = (struct ibv_cq){ .context = context, .channel = channel, .cq_context = user,
        .cqe = entries };
    return &queue->cq;
}
EXPORTED int ibv_destroy_cq(struct ibv_cq *cq) {
    for (struct pair *pair = pairs; pair; pair = pair->next)
        if (pair->qp.send_cq == cq || pair->qp.recv_cq == cq)
            return EBUSY;
    free(cq);
    return 0;
}
EXPORTED int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **user) {
    if (read(channel->fd, cq, sizeof *cq) != sizeof *cq)
        return -1;
    *user = NULL;
    return 0;
}
EXPORTED void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count) { (void)cq, (void)count; }

EXPORTED struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init) {
    if ((init->qp_type != IBV_QPT_RC && init->qp_type != IBV_QPT_UD) || !init->send_cq ||
        !init->recv_cq || init->cap.max_send_wr > DEPTH || init->cap.max_recv_wr > DEPTH)
        return errno = EINVAL, NULL;
    struct pair *pair = calloc(1, sizeof *pair);
    pthread_mutex_lock(&lock);
    pair->qp = (struct ibv_qp){ .context = pd->context, .pd = pd, .send_cq = init->send_cq,
        .recv_cq = init->recv_cq, .qp_type = init->qp_type, .qp_num = next_number++ };
    pair->attr.cap = init->cap;
    pair->next = pairs;
    pairs = pair;
    pthread_mutex_unlock(&lock);
    return &pair->qp;
}

EXPORTED int ibv_destroy_qp(struct ibv_qp *qp) {
    struct pair *pair = (struct pair *)qp, **at = &pairs;
    pthread_mutex_lock(&lock);
    while (*at != pair)
        at = &(*at)->next;
    *at = pair->next;
    while (pair->sends.first)
        take(&pair->sends);
    while (pair->receives.first)
        take(&pair->receives);
    free(pair);
    pthread_mutex_unlock(&lock);
    return 0;
}

EXPORTED struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr) {
    struct host *host = host_of(pd->context);
    if (attr->port_num < 1 || attr->port_num > PORTS || attr->is_global != is_ethernet(host))
        return errno = EINVAL, NULL;
    struct handle *handle = calloc(1, sizeof *handle);
    handle->ah.context = pd->context;
    handle->ah.pd = pd;
    handle->attr = *attr;
    return &handle->ah;
}
EXPORTED int ibv_destroy_ah(struct ibv_ah *ah) { free(ah); return 0; }

struct transition {
    enum ibv_qp_type type;
    enum ibv_qp_state from, to;
    int needs, may_have;
};

/* What each transition needs and may have besides the state. */
static const struct transition transitions[] = {
    { IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT,
      IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0 },
    { IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR,
      IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
          IBV_QP_MIN_RNR_TIMER,
      IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX },
    { IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS,
      IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
          IBV_QP_MAX_QP_RD_ATOMIC,
      IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER |
          IBV_QP_PATH_MIG_STATE },
    { IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_RTS, 0,
      IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE |
          IBV_QP_MIN_RNR_TIMER },
    { IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT,
      IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, 0 },
    { IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY },
    { IBV_QPT_UD, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY },
};

static int is_allowed(struct pair *pair, enum ibv_qp_state to, int mask) {
    for (size_t row = 0; row < sizeof transitions / sizeof *transitions; row++) {
        const struct transition *t = &transitions[row];
        if (t->type == pair->qp.qp_type && t->from == pair->attr.qp_state && t->to == to)
            return (mask & t->needs) == t->needs &&
                !(mask & ~(t->needs | t->may_have | IBV_QP_STATE));
    }
    return 0;
}

/* A way must begin at a port, at one of its addresses, and be global on RoCE alone. */
static int is_way(struct pair *pair, const struct ibv_ah_attr *way) {
    struct host *host = host_of(pair->qp.context);
    return way->port_num >= 1 && way->port_num <= PORTS && way->src_path_bits < 1 << LMC &&
        way->is_global == is_ethernet(host) && (is_ethernet(host) || way->dlid >= 1 << LMC);
}

static int change(struct pair *pair, struct ibv_qp_attr *new, int mask) {
    struct ibv_qp_attr *attr = &pair->attr;
    enum ibv_qp_state to = mask & IBV_QP_STATE ? new->qp_state : attr->qp_state;
    if (!is_allowed(pair, to, mask) || (mask & IBV_QP_AV && !is_way(pair, &new->ah_attr)))
        return EINVAL;
    if (mask & IBV_QP_ALT_PATH &&
        (is_ethernet(host_of(pair->qp.context)) || !is_way(pair, &new->alt_ah_attr) ||
         new->alt_port_num != new->alt_ah_attr.port_num))
        return EINVAL;
    int knows = pair->knows_alternate || mask & IBV_QP_ALT_PATH;
    if (mask & IBV_QP_PATH_MIG_STATE &&
        (new->path_mig_state == IBV_MIG_ARMED ||
         (new->path_mig_state == IBV_MIG_REARM && !knows) ||
         (new->path_mig_state == IBV_MIG_MIGRATED && attr->path_mig_state != IBV_MIG_ARMED)))
        return EINVAL;
    attr->qp_state = to;
    if (mask & IBV_QP_PORT)
        attr->port_num = new->port_num;
    if (mask & IBV_QP_QKEY)
        attr->qkey = new->qkey;
    if (mask & IBV_QP_AV) {
        attr->ah_attr = new->ah_attr;
        attr->dest_qp_num = new->dest_qp_num;
        attr->rq_psn = new->rq_psn;
    }
    if (mask & IBV_QP_SQ_PSN)
        attr->sq_psn = new->sq_psn;
    if (mask & IBV_QP_ALT_PATH) {
        attr->alt_ah_attr = new->alt_ah_attr;
        attr->alt_port_num = new->alt_port_num;
        pair->knows_alternate = 1;
    }
    if (mask & IBV_QP_PATH_MIG_STATE && new->path_mig_state == IBV_MIG_MIGRATED)
        migrate(pair);
    else if (mask & IBV_QP_PATH_MIG_STATE && pair->qp.context->device != &soft)
        attr->path_mig_state = new->path_mig_state;
    return 0;
}

EXPORTED int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask) {
    pthread_mutex_lock(&lock);
    int result = change((struct pair *)qp, attr, mask);
    go_on();
    pthread_mutex_unlock(&lock);
    return result;
}

EXPORTED int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
                          struct ibv_qp_init_attr *init) {
    (void)mask;
    memset(init, 0, sizeof *init);
    pthread_mutex_lock(&lock);
    *attr = ((struct pair *)qp)->attr;
    pthread_mutex_unlock(&lock);
    return 0;
}

/* Knobs of the tests. A port, by one of its addresses or by its GID's last two bytes. */
EXPORTED int standin_port(uint16_t address, uint8_t host_number, uint8_t port_number, int is_up) {
    int found = 0;
    pthread_mutex_lock(&lock);
    for (struct host *host = hosts; host; host = host->next)
        for (int port = 1; port <= PORTS; port++) {
            int is_it = address ? lid(host, port) >> LMC == address >> LMC
                                : host->number == host_number && port == port_number;
            if (!is_it)
                continue;
            found = 1;
            host->is_up[port] = is_up;
            tell(host, is_up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR, NULL, port);
        }
    pthread_mutex_unlock(&lock);
    return found;
}

/* Contexts, queue pairs and registrations that were not given back. */
EXPORTED int standin_objects(void) {
    int count = 0;
    for (struct host *host = hosts; host; host = host->next) count++;
    for (struct pair *pair = pairs; pair; pair = pair->next) count++;
    for (struct memory *memory = memories; memory; memory = memory->next) count++;
    return count;
}
