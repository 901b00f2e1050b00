// laneway: measures MPI operations from a program in C, and gives any program connections that
// outlive their path. Written by cbindgen from bindings/c/src, and from bindings/c/cbindgen.toml.
//
// laneway_paths_... need no MPI: define LANEWAY_WITHOUT_MPI before this is included where there is
// none. The functions that measure are at the end; they take an MPI_Comm as the caller's mpi.h
// declares it. Those before take its Fortran handle, so that one library serves every MPI; from
// Fortran they can be called as they are. All answer a code, and laneway_last_error() says what it
// means; after a measurement laneway_last_flags() says what is to be known of each point.

#pragma once

#include <stddef.h>
#include <stdint.h>

#ifndef LANEWAY_WITHOUT_MPI
#include <mpi.h>
#endif

// Done, and as precise as was asked.
#define LANEWAY_DONE 0

// An operation gave a wrong answer, or the caller's function failed.
#define LANEWAY_WRONG 1

// An argument is wrong, or differs between ranks.
#define LANEWAY_USAGE 2

// There is no MPI, it is not running, or it failed; or the system refused something.
#define LANEWAY_ENVIRONMENT 3

// All figures are there; some are less precise than was asked, or no time above zero.
#define LANEWAY_PRECISION 4

// Paths: a connection is in no state for it, and goes on as before.
#define LANEWAY_STATE 5

// Paths: there is no such connection or handle, or not any more.
#define LANEWAY_UNKNOWN 6

// Paths: the peer did not answer in time, or has another secret.
#define LANEWAY_NO_ANSWER 7

// What the thread does when an alternate path is armed: nothing.
#define LANEWAY_ON_ARMED_NOTHING 0

// The thread migrates when an alternate path is armed.
#define LANEWAY_ON_ARMED_MIGRATE 1

// What the thread does when a connection has migrated: it specifies another path and loads it.
#define LANEWAY_ON_MIGRATED_REARM 0

// The thread only specifies another path when a connection has migrated.
#define LANEWAY_ON_MIGRATED_SPECIFY 1

// The thread does nothing when a connection has migrated.
#define LANEWAY_ON_MIGRATED_NOTHING 2

// Nothing has happened.
#define LANEWAY_EVENT_NONE 0

// A connection that was begun here is open.
#define LANEWAY_EVENT_CONNECTED 1

// A peer has opened a connection, with its `label`.
#define LANEWAY_EVENT_ACCEPTED 2

// The peer of a connection that was begun here did not answer, or has another secret.
#define LANEWAY_EVENT_NO_ANSWER 3

// The peer has closed the connection; its receives will not be filled.
#define LANEWAY_EVENT_CLOSED 4

// The message `id` of `length` bytes has arrived at the peer.
#define LANEWAY_EVENT_SENT 5

// A message of `length` bytes is in the buffer that was posted as `id`.
#define LANEWAY_EVENT_RECEIVED 6

// The alternate path `path` is loaded and can take over.
#define LANEWAY_EVENT_ARMED 7

// The connection has left the path `from` for `path`; `cause` says why.
#define LANEWAY_EVENT_MIGRATED 8

// The alternate path `path` does not answer any more; it is being loaded again.
#define LANEWAY_EVENT_UNHEALTHY 9

// The peer loads the path `path`, which is not the alternate one here.
#define LANEWAY_EVENT_WANTED 10

// The connection is broken, in the state ERROR; `cause` says why.
#define LANEWAY_EVENT_FAILED 11

// The message `id` of a broken connection was not sent, or its arrival is unknown.
#define LANEWAY_EVENT_SEND_FLUSHED 12

// The buffer that was posted as `id` will not be filled: its connection is broken.
#define LANEWAY_EVENT_RECEIVE_FLUSHED 13

// There is no cause to tell.
#define LANEWAY_CAUSE_NONE 0

// Migrated because this end asked for it.
#define LANEWAY_CAUSE_REQUEST 1

// Migrated because the primary path died.
#define LANEWAY_CAUSE_FAILURE 2

// Migrated because the peer did.
#define LANEWAY_CAUSE_PEER 3

// Migrated because the primary path passed short packets only.
#define LANEWAY_CAUSE_LENGTH 8

// Migrated because the primary path lost packets, and the alternate one did not.
#define LANEWAY_CAUSE_LOSS 9

// Failed because the peer did not acknowledge a packet that was sent as often as allowed.
#define LANEWAY_CAUSE_RETRIES 4

// Failed because the peer had posted no receive as often as allowed.
#define LANEWAY_CAUSE_NOT_READY 5

// Failed because a message was longer than the buffer that was posted for it.
#define LANEWAY_CAUSE_MESSAGE 6

// Failed because this end asked for it.
#define LANEWAY_CAUSE_ASKED 7

// The states of a queue pair: nothing is known of a peer.
#define LANEWAY_QP_RESET 0

// A queue pair that has its primary path.
#define LANEWAY_QP_INIT 1

// A queue pair that is ready to receive.
#define LANEWAY_QP_RTR 2

// A queue pair that is ready to send.
#define LANEWAY_QP_RTS 3

// A queue pair whose send queue is drained.
#define LANEWAY_QP_SQD 4

// A queue pair that is broken.
#define LANEWAY_QP_ERROR 5

// The migration states: no alternate path is loaded.
#define LANEWAY_MIGRATION_MIGRATED 0

// The alternate path is being loaded.
#define LANEWAY_MIGRATION_REARM 1

// The alternate path can take over.
#define LANEWAY_MIGRATION_ARMED 2

// The collective operations of MPI.
typedef enum laneway_operation {
  LANEWAY_BARRIER = 1,
  LANEWAY_BCAST,
  LANEWAY_SCATTER,
  LANEWAY_SCATTERV,
  LANEWAY_GATHER,
  LANEWAY_GATHERV,
  LANEWAY_REDUCE,
  LANEWAY_ALLREDUCE,
  LANEWAY_ALLGATHER,
  LANEWAY_ALLGATHERV,
  LANEWAY_ALLTOALL,
  LANEWAY_ALLTOALLV,
  LANEWAY_REDUCE_SCATTER,
  LANEWAY_REDUCE_SCATTER_BLOCK,
  LANEWAY_SCAN,
  LANEWAY_EXSCAN,
} laneway_operation;

// What the elements of a datatype are, as laneway.h recognises it.
typedef enum laneway_element {
  // A derived datatype, or one that no reduction of MPI takes.
  LANEWAY_ELEMENT_OTHER,
  LANEWAY_ELEMENT_I8,
  LANEWAY_ELEMENT_I16,
  LANEWAY_ELEMENT_I32,
  LANEWAY_ELEMENT_I64,
  LANEWAY_ELEMENT_U8,
  LANEWAY_ELEMENT_U16,
  LANEWAY_ELEMENT_U32,
  LANEWAY_ELEMENT_U64,
  LANEWAY_ELEMENT_F32,
  LANEWAY_ELEMENT_F64,
  // MPI_BYTE.
  LANEWAY_ELEMENT_BYTE,
  // A number and an index, for MPI_MINLOC and MPI_MAXLOC.
  LANEWAY_ELEMENT_PAIR,
  LANEWAY_ELEMENT_LONG_DOUBLE,
  LANEWAY_ELEMENT_COMPLEX,
  // MPI_C_BOOL.
  LANEWAY_ELEMENT_BOOL,
  // MPI_DATATYPE_NULL.
  LANEWAY_ELEMENT_NULL,
} laneway_element;

// What a reduction operator is, as laneway.h recognises it.
typedef enum laneway_operator {
  // One that the program made with MPI_Op_create.
  LANEWAY_OPERATOR_USER,
  LANEWAY_OPERATOR_SUM,
  LANEWAY_OPERATOR_PROD,
  LANEWAY_OPERATOR_MIN,
  LANEWAY_OPERATOR_MAX,
  LANEWAY_OPERATOR_BAND,
  LANEWAY_OPERATOR_BOR,
  LANEWAY_OPERATOR_BXOR,
  LANEWAY_OPERATOR_LAND,
  LANEWAY_OPERATOR_LOR,
  LANEWAY_OPERATOR_LXOR,
  LANEWAY_OPERATOR_MINLOC,
  LANEWAY_OPERATOR_MAXLOC,
  // MPI_REPLACE or MPI_NO_OP, which reduce nothing.
  LANEWAY_OPERATOR_NOT,
  // MPI_OP_NULL.
  LANEWAY_OPERATOR_NULL,
} laneway_operator;

// The methods by which an operation is timed.
typedef enum laneway_timing {
  // On the root alone, until the others have confirmed, less what a confirmation takes.
  LANEWAY_ROOT,
  // On every rank by its own clock; the longest counts.
  LANEWAY_MAXIMUM,
  // From the first entry to the last exit on one clock, after a barrier.
  LANEWAY_GLOBAL,
  // All ranks begin at an agreed instant; from the first entry to the last exit.
  LANEWAY_START_TIME,
  // Series of calls without isolation, the total of each over its length, as IMB does; the
  // longest of the ranks counts. Calls overlap, so it is not the time of one.
  LANEWAY_LOOP,
  // Each rank's part alone, acknowledged: of bcast and scatter, linear and binomial.
  LANEWAY_TASKS,
} laneway_timing;

// A model of a network, behind a pointer.
typedef struct laneway_model laneway_model;

// All connections of a process over the same paths. It is a name and no address: a handle that was
// closed is refused like one that never was.
typedef struct laneway_paths laneway_paths;

// The options of a call as the library takes them, with the Fortran handles of datatypes and
// operators: laneway_call of laneway.h fills it from a laneway_call_options.
typedef struct laneway_call_arguments {
  // The size of this struct, in bytes; a later version may have more members.
  size_t size;
  // A name that `laneway info algorithms` prints, "native" or "chosen".
  const char *algorithm;
  const void *sendbuf;
  const int *sendcounts;
  const int *sdispls;
  void *recvbuf;
  const int *recvcounts;
  const int *rdispls;
  // A laneway_operation.
  int operation;
  int sendcount;
  int sendtype;
  // A laneway_element.
  int sendelement;
  int recvcount;
  int recvtype;
  // A laneway_element.
  int recvelement;
  int op;
  // A laneway_operator.
  int operator_kind;
  int root;
} laneway_call_arguments;

// How many points of two files came out how.
typedef struct laneway_comparison {
  // They take longer than before, or move fewer bytes a second.
  int slower;
  int faster;
  // They differ by no more than the threshold.
  int same;
  // The difference may be chance, or one file has no like of them.
  int unknown;
  // Points of one file alone, which are unknown as well.
  int only_old;
  int only_new;
} laneway_comparison;

// This end of a path.
typedef struct laneway_local_path {
  // An address of this machine, as "10.0.0.1" or "fd00::1".
  const char *address;
  // The device that packets leave and arrive by, and whose carrier is watched; or NULL.
  const char *device;
  // The first and the last port that are tried; 0 and 0 for any, 0 as the last for the first
  // alone.
  uint16_t first_port;
  uint16_t last_port;
  // The longest packet of the network, IP included; 0 for 1,500.
  int mtu;
} laneway_local_path;

// What happened. Members that an event does not have are 0, paths -1.
typedef struct laneway_event {
  // LANEWAY_EVENT_...
  int kind;
  // The connection that it happened to.
  uint32_t connection;
  // Of a message or a buffer, as it was given.
  uint64_t id;
  // Bytes of a message.
  uint64_t length;
  // Of a connection that a peer has opened.
  uint64_t label;
  int path;
  // The path that was left.
  int from;
  // LANEWAY_CAUSE_...
  int cause;
} laneway_event;

// What the thread calls for an event of a path: ARMED, MIGRATED, UNHEALTHY, WANTED or FAILED.
// laneway_paths_next_event tells the same event as well. The function may call the modules, send,
// post receives and ask for states; what waits or closes the handle is refused there. It must not
// wait for long, and must not end by an exception.
typedef void (*laneway_on_event)(struct laneway_paths *paths,
                                 const struct laneway_event *event,
                                 void *data);

// How paths are opened. All that is 0 or NULL is as usual.
typedef struct laneway_paths_options {
  // 1 to 8 paths, in the same order at both ends of a connection.
  const struct laneway_local_path *paths;
  int count;
  // The job's secret: a file that only its owner can read, or bytes, at least 16; without one
  // only loopback addresses are served.
  const char *secret_file;
  const void *secret;
  size_t secret_length;
  // Not 0: peers may open connections to here.
  int accepts;
  // Not 0: no alternate path is loaded until the program does it; else one is at once.
  int by_hand;
  // What is done on ARMED and on MIGRATED: LANEWAY_ON_ARMED_..., LANEWAY_ON_MIGRATED_...
  int on_armed;
  int on_migrated;
  // The path that connections begin with that are opened from here.
  int first_path;
  // Not 0: connections that are opened from here to one peer begin with different paths, in turn
  // from `first_path` on, so that their load goes over all of them. Each goes back to the path
  // that it began with, as with `fail_back`.
  int spread;
  // Not 0: a connection that is opened from here goes back to the path that it began with when
  // that has been armed for `hold_ms` (0 for 200), and for twice as long each time that it died
  // soon after, `most_hold_ms` (0 for 30,000) at most.
  int fail_back;
  int hold_ms;
  int most_hold_ms;
  // InfiniBand's code, 1 to 31, of the time in which a peer must acknowledge: 4.096 us times two
  // to this power; 0 for 20, -1 waits for ever. And how often a packet is sent again before the
  // connection fails, 1 to 7; 0 for 7, -1 never.
  int ack_timeout;
  int retries;
  // InfiniBand's code, 1 to 31, of the time that a peer waits which found no buffer here; 0 for
  // 12, 0.64 ms. And how often a message asks a peer without a buffer again, 1 to 6; 0 for ever,
  // -1 never.
  int not_ready_timer;
  int not_ready_retries;
  // Not 0: the asynchronous thread, which goes on while the program computes. Without it
  // everything happens in calls, which then come from one thread at a time.
  int thread;
  // What the thread calls, with `data`; or NULL.
  laneway_on_event on_event;
  void *data;
} laneway_paths_options;

// How a connection is.
typedef struct laneway_connection_state {
  // LANEWAY_QP_...
  int queue_pair;
  // LANEWAY_MIGRATION_...
  int migration;
  int primary;
  // -1 where there is none.
  int alternate;
  // How often it has migrated, and how often a path of it was suspected to be dead.
  uint64_t migrations;
  uint64_t suspicions;
  // Messages that were given and have not arrived.
  uint64_t waiting;
  // Packets that were sent more than once.
  uint64_t sent_again;
  // Nanoseconds there and back over the primary path, smoothed; 0 where it is not known yet.
  uint64_t round_trip_ns;
} laneway_connection_state;

// How a path is, and what went over it.
typedef struct laneway_path_state {
  // 0 where its device has no carrier; 1 where it has, or no device was named.
  int carrier;
  // 1 where laneway_paths_drain, or a person, took it out of use.
  int drained;
  // Connections that have it as their primary path, and as their alternate one.
  uint64_t primary_of;
  uint64_t alternate_of;
  uint64_t sent_packets;
  uint64_t sent_bytes;
  uint64_t received_packets;
  uint64_t received_bytes;
} laneway_path_state;

// What was counted since the paths were opened, over all connections, also those that are gone.
typedef struct laneway_counters {
  // Packets that were dropped in silence because they belong to no connection here, came over
  // another path or from another address than agreed, have a wrong tag, or are handshakes with
  // another secret or out of turn.
  uint64_t dropped_strange;
  uint64_t dropped_misplaced;
  uint64_t dropped_forged;
  uint64_t dropped_refused;
  // Packets of connections, and those of them that were sent more than once.
  uint64_t sent;
  uint64_t received;
  uint64_t sent_again;
  // Packets that were refused though their tag was right: data that was there before, what no
  // peer can have written, for another queue pair, again or far too late, in a state that takes
  // none.
  uint64_t duplicates;
  uint64_t malformed;
  uint64_t strange;
  uint64_t replayed;
  uint64_t unexpected;
  uint64_t migrations;
  // How often a path was suspected to be dead.
  uint64_t suspicions;
} laneway_counters;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library, for example "0.1.0".
const char *laneway_version(void);

// What went wrong in this thread's last call, as lines "error: ", "cause: " and "try: "; empty
// where nothing did. It stays until the thread's next call.
const char *laneway_last_error(void);

// What is to be known of one point, counted from 0, of this thread's last measurement before its
// figures are trusted, on every rank: comma-separated words as in the column `flags` of the
// command, for example "no time" where it is zero or less, "single" where it is one repetition,
// "start missed" where the ranks could not begin together, "nothing sent" where there is
// nothing to measure. Empty where there is nothing, and
// where there is no such point. It stays until the thread's next measurement.
const char *laneway_last_flags(int point);

// The word by which the other functions know a laneway_operation, for example "allreduce"; NULL
// for what is none.
const char *laneway_operation_name(int operation);

// Collective over `comm`: does an MPI collective by an algorithm of ours, by the fastest for the
// places of its ranks if that is "chosen" (laneway_place_ranks says where they are), or by the
// function of the MPI library if "native". Programs in C call laneway_call. As in MPI, all ranks
// give matching arguments.
//
// # Safety
// `arguments` is NULL or points to as many bytes as its `size` says; texts are C strings, handles
// are live, and buffers and lists are as the MPI function of that name takes them.
int laneway_call_by_handles(int comm,
                            const struct laneway_call_arguments *arguments);

// Compares two files of measurements, JSON or CSV of laneway or text of OSU or IMB, as `laneway
// compare` does: points are matched by operation, algorithm, ranks and size, and a difference
// counts where it exceeds `threshold` (0.05 is 5 %) and is significant. The counts go to `out`,
// which may be NULL. LANEWAY_WRONG: something is slower, or a file is
// incomplete or lacks points of the other; the counts are there, and laneway_last_error() names
// the point that lost the most, or what is missing. No MPI is needed.
//
// # Safety
// The texts are C strings, and `out` is NULL or has room.
int laneway_compare(const char *old_file,
                    const char *new_file,
                    double threshold,
                    struct laneway_comparison *out);

// Collective over `comm`: measures an experiment of the caller's on `n` subsets of the ranks, the
// first of which has `lengths`[0] members, and so on; `members` has the ranks of all of them, one
// subset after the other. One repetition is one call of the function on every member of a subset:
// with `data`, how many members there are, their ranks in `comm`, this rank's place among them,
// and the address of a time. The first member leads: the time of a repetition is what its call
// takes, or what it writes there, in seconds. The function may send messages on `comm`; those of
// the measurement do not meet them. It returns 0 where all went well, and otherwise is called on,
// so that no rank waits for another, and fails the measurement in the end. Where `parallel` is
// not 0, subsets without a common rank are measured at the same time, else one after the other
// while all other ranks wait. `times` in seconds, `reps` and `errors` have room for `n`, in the
// order of the subsets, and are filled on every rank. All ranks give the same subsets.
//
// # Safety
// The function may be called with `data`, from this thread; it throws no exception. `lengths`,
// `times`, `reps` and `errors` have `n` members, and `members` as many as all lengths together.
int laneway_time_experiment(int comm,
                            int (*experiment)(void*, int, const int*, int, double*),
                            void *data,
                            int n,
                            const int *lengths,
                            const int *members,
                            int parallel,
                            int min_reps,
                            int max_reps,
                            double alpha,
                            double *times,
                            int *reps,
                            double *errors);

// Collective over `comm`: point-to-two, for all ranks i and all pairs j < k of others: i sends
// `size` bytes to j and then to k, both answer with an empty message, and the time is that of i,
// from its first send to the second answer. Where `parallel` is not 0, triples without a common
// rank are measured at the same time, else one after the other while all other ranks wait. Of p
// ranks, `times` in seconds, `reps` and `errors` have room for p (p - 1) (p - 2) / 2, by i, then
// j, then k, and are filled on every rank.
//
// # Safety
// The lists have so much room.
int laneway_time_point_to_two(int comm,
                              int size,
                              int min_reps,
                              int max_reps,
                              double alpha,
                              int parallel,
                              double *times,
                              int *reps,
                              double *errors);

// Collective over `comm`: measures an operation by an algorithm of ours, or by MPI's own where
// that is "native", for `n` sizes in bytes (of one rank's block, or of the vector). `times` in
// seconds, `reps` and `errors` have room for `n` and are filled on every rank; an error is half
// the confidence interval over the time, and NAN where one repetition cannot tell it. Every answer
// is checked before it is timed. Of 0 bytes, and on one rank, an algorithm of ours sends nothing:
// such a point has a time of NAN, no repetitions and the flags "no time" and "nothing sent".
// laneway_last_flags tells what else is to be known of a point; laneway_set chooses the root and
// what else is not an argument.
//
// # Safety
// Texts are C strings, and lists have `n` members.
int laneway_time_collective(int comm,
                            int timing,
                            const char *operation,
                            const char *algorithm,
                            int n,
                            const int *sizes,
                            int min_reps,
                            int max_reps,
                            double alpha,
                            double *times,
                            int *reps,
                            double *errors);

// Collective over `comm`: measures a function of the caller's, which all ranks call equally often.
// It returns 0 where all went well, and otherwise is called on, so that no rank waits for another,
// and fails the measurement in the end. `time`, `reps` and `error` are as in
// laneway_time_collective, of one point. LANEWAY_TASKS is refused, as its tasks are not known.
//
// # Safety
// The function may be called with `data`, from this thread; it throws no exception.
int laneway_time_function(int comm,
                          int timing,
                          int (*function)(void*),
                          void *data,
                          int min_reps,
                          int max_reps,
                          double alpha,
                          double *time,
                          int *reps,
                          double *error);

// Collective over `comm`: measures a function of the caller's for `n` sizes, each of which it is
// given as its second argument; what a size means is the caller's affair. All else is as in
// laneway_time_function, and `times`, `reps` and `errors` have room for `n`. A size at which the
// function fails ends the measurement.
//
// # Safety
// The function may be called with `data`, from this thread; it throws no exception. Lists have
// `n` members.
int laneway_time_function_sizes(int comm,
                                int timing,
                                int (*function)(void*, int),
                                void *data,
                                int n,
                                const int *sizes,
                                int min_reps,
                                int max_reps,
                                double alpha,
                                double *times,
                                int *reps,
                                double *errors);

// Collective over `comm`: estimates a model ("hockney", "hockney-pairs", "hockney-segments",
// "loggp", "plogp" or "lmo") by experiments on disjoint pairs and triples of ranks, at the same
// time where `parallel` is not 0, each until its interval is within `precision` (0.01 is 1 %), in
// `budget` seconds altogether. Every rank has the model then, and gives it back with
// laneway_free_model. LANEWAY_WRONG: the model does not hold here; it is there, and predicts
// nothing.
//
// # Safety
// The text is a C string, and `out` has room for a pointer.
int laneway_estimate_ranks(int comm,
                           const char *model,
                           double precision,
                           int parallel,
                           double budget,
                           struct laneway_model **out);

// Reads a model that laneway_save_model or `laneway model fit -o` wrote; laneway_free_model gives
// it back. LANEWAY_WRONG: it is there, and does not hold.
//
// # Safety
// The text is a C string, and `out` has room for a pointer.
int laneway_load_model(const char *file,
                       struct laneway_model **out);

// Writes a model to a file, for laneway_load_model and for `laneway model show` and `predict`.
//
// # Safety
// The model is one of these functions' and was not given back; the text is a C string.
int laneway_save_model(const struct laneway_model *model, const char *file);

// What an algorithm of laneway takes for an operation of `size` bytes, in seconds, to `seconds`,
// and the ends of its interval to `low` and `high`, which may be NULL; both are NAN where the
// model was seen to be too far off to promise an interval. `ranks` is 0 for as many as the model
// was estimated on. Nothing is called, and no MPI is needed.
//
// # Safety
// The model is one of these functions' and was not given back; the texts are C strings, and there
// is room for each number.
int laneway_predict(const struct laneway_model *model,
                    const char *operation,
                    const char *algorithm,
                    int ranks,
                    int size,
                    int root,
                    double *seconds,
                    double *low,
                    double *high);

// Gives a model back; NULL is none.
//
// # Safety
// The model is one of these functions', and is not used any more.
void laneway_free_model(struct laneway_model *model);

// Collective over `comm`: measures the caller's own implementation of an MPI collective for `n`
// points; laneway.h has a function for each collective that calls this one. `describe` is given
// `data`, a rank, the number of ranks, the root and a point, and writes eight numbers: where the
// send buffer begins and ends, in bytes from its address; the same of the receive buffer; how the
// buffers are filled (0: any bytes, 1: whole numbers, 2: float, 3: double) in elements of how many
// bytes, and the largest number; and a mark that is the same on every rank. It returns 0, or what
// is wrong. `make` is given `data`, whether MPI's own function is wanted, the root, a point and
// the buffers. Before a point is timed, and once more afterwards with other content, both
// functions are called with equal buffers: where they leave different bytes, or the caller's
// fails, the measurement ends and the point has no figure.
//
// # Safety
// Both functions may be called with `data`, from this thread; they throw no exception and touch
// no bytes but those that they describe. The text is a C string, and lists have `n` members.
int laneway_time_own(int comm,
                     int timing,
                     const char *operation,
                     int (*describe)(void*, int, int, int, int, long long*),
                     int (*make)(void*, int, int, int, void*, void*),
                     void *data,
                     int n,
                     int min_reps,
                     int max_reps,
                     double alpha,
                     double *times,
                     int *reps,
                     double *errors);

// Initialisation: opens a socket for each path, and starts the thread where it is asked for. What
// all connections share is behind the handle that is written to `*paths`, and NULL where it
// fails. Both ends of a connection name their paths in the same order.
//
// # Safety
// `options` and all that it points to stay during the call, texts are C strings, lists are as long
// as they say, and `paths` has room for a handle. `on_event` may be called with `data` from the
// thread until the handle is closed.
int laneway_paths_open(const struct laneway_paths_options *options,
                       struct laneway_paths **paths);

// Finalisation: closes every connection and tells the peers, ends the thread, and frees all. What
// has not arrived is lost: wait for LANEWAY_EVENT_SENT before. When it returns, no buffer is
// written to and on_event is not called any more. The handle is then refused, here as well; NULL
// is, too.
int laneway_paths_close(struct laneway_paths *paths);

// Where a path begins here, with its port, as "10.0.0.1:40123": written to `text`, which has room
// for `length` characters; 64 are enough. A peer gives it to laneway_paths_connect.
//
// # Safety
// `text` has so much room.
int laneway_paths_address(struct laneway_paths *paths,
                          int path,
                          char *text,
                          int length);

// Begins to open a connection to a peer, whose address on each path is given as "10.0.0.2:40123",
// in the order of the paths here. It is greeted at these, which may be fewer than its paths: both
// ends tell each other the rest. The connection's number is written to `*connection`;
// LANEWAY_EVENT_CONNECTED or, after `timeout_ms` milliseconds, LANEWAY_EVENT_NO_ANSWER reports the
// outcome. The peer gets `label`.
//
// # Safety
// `peers` has `count` C strings, and `connection` has room for a number.
int laneway_paths_begin_connect(struct laneway_paths *paths,
                                const char *const *peers,
                                int count,
                                uint64_t label,
                                int limit_ms,
                                uint32_t *connection);

// The same, and waits until the connection is open or the time is over. No event tells of it.
//
// # Safety
// As for laneway_paths_begin_connect.
int laneway_paths_connect(struct laneway_paths *paths,
                          const char *const *peers,
                          int count,
                          uint64_t label,
                          int limit_ms,
                          uint32_t *connection);

// Sends a message of `length` bytes, which are copied: `data` is the caller's again at once.
// LANEWAY_EVENT_SENT with `id` tells when it has arrived. Messages of a connection arrive once and
// in the order of the calls, whatever becomes of its paths. The peer must have posted a buffer for
// it; until then the message waits.
//
// # Safety
// `data` has `bytes` bytes.
int laneway_paths_send(struct laneway_paths *paths,
                       uint32_t connection,
                       uint64_t id,
                       const void *data,
                       size_t length);

// Gives a buffer of `length` bytes for one message; buffers are filled in the order of these
// calls. It is the library's until LANEWAY_EVENT_RECEIVED or LANEWAY_EVENT_RECEIVE_FLUSHED with
// `id` was taken, or LANEWAY_EVENT_CLOSED of the connection, or until the connection or the handle
// is closed. The message is copied into it when its event is taken, by laneway_paths_next_event. A
// message that is longer than its buffer breaks the connection, as on InfiniBand.
//
// # Safety
// `buffer` has this much room, and has no other user until then.
int laneway_paths_post_receive(struct laneway_paths *paths,
                               uint32_t connection,
                               uint64_t id,
                               void *buffer,
                               size_t length);

// Closes a connection and tells the peer. What has not arrived is lost, events of it that were not
// taken are gone, and its buffers are the caller's again.
int laneway_paths_disconnect(struct laneway_paths *paths,
                             uint32_t connection);

// Moves what can be moved, and does not wait. Without a thread a program calls this, or
// laneway_paths_wait, often: everything happens there.
int laneway_paths_progress(struct laneway_paths *paths);

// Waits until something may have happened, for a number of milliseconds at most. It may return
// early without an event: ask laneway_paths_next_event. With a thread, others may call anything
// meanwhile.
int laneway_paths_wait(struct laneway_paths *paths, int limit_ms);

// The next event is written to `*event`; its kind is LANEWAY_EVENT_NONE if there
// is nothing. A message is put into its buffer here. It does not wait, and moves nothing.
//
// # Safety
// `event` has room for one, and buffers that were posted are still there.
int laneway_paths_next_event(struct laneway_paths *paths, struct laneway_event *event);

// Alternate path specification for a list of connections: `path` takes over when it is loaded and
// the primary path dies, or when it is asked to. What was loaded before is not any more. Of these
// three modules each is asked of every connection of the list, also after one has refused; the
// code and the words are those of the first that did, and it goes on as before.
//
// # Safety
// `connections` has `count` numbers.
int laneway_paths_specify(struct laneway_paths *paths,
                          const uint32_t *connections,
                          int count,
                          int path);

// Path loading request for a list of connections: their alternate paths are loaded at both ends
// and tried. LANEWAY_EVENT_ARMED of each, or its state, tells when it is done.
//
// # Safety
// `connections` has `count` numbers.
int laneway_paths_load(struct laneway_paths *paths, const uint32_t *connections, int count);

// Path migration for a list of connections, which must be armed: their alternate paths become the
// primary ones, at the peers as well. LANEWAY_EVENT_MIGRATED tells of each.
//
// # Safety
// `connections` has `count` numbers.
int laneway_paths_migrate(struct laneway_paths *paths,
                          const uint32_t *connections,
                          int count);

// Takes the traffic of every connection off a path, now or as soon as another one is armed, and
// keeps it and that of later connections off.
int laneway_paths_drain(struct laneway_paths *paths, int path);

// Lets a path be used again.
int laneway_paths_undrain(struct laneway_paths *paths, int path);

// How a connection is, written to `*state`.
//
// # Safety
// `state` has room for one.
int laneway_paths_state(struct laneway_paths *paths,
                        uint32_t connection,
                        struct laneway_connection_state *state);

// How a path is, and what went over it, written to `*state`.
//
// # Safety
// `state` has room for one.
int laneway_paths_path_state(struct laneway_paths *paths,
                             int path,
                             struct laneway_path_state *state);

// What was counted, packets that were dropped in silence included, written to `*counters`.
//
// # Safety
// `counters` has room for them.
int laneway_paths_counters(struct laneway_paths *paths, struct laneway_counters *counters);

// The connections that are open, from either end: their numbers are written to `numbers`, which
// has room for `length`, and how many there are to `*count`, also where that is more.
//
// # Safety
// `numbers` has so much room, and `count` has room for a number.
int laneway_paths_connections(struct laneway_paths *paths,
                              uint32_t *numbers,
                              int length,
                              int *count);

// Collective over `comm`: round trips between all pairs of ranks i < j, `out` bytes there and
// `back` bytes home; one pair after the other, or where `parallel` is not 0 at the same time those
// that share no rank. Of p ranks, `times` in seconds, `reps` and `errors` have room for
// p (p - 1) / 2, by i and then j, and are filled on every rank.
//
// # Safety
// The lists have so much room.
int laneway_time_round_trips(int comm,
                             int out,
                             int back,
                             int min_reps,
                             int max_reps,
                             double alpha,
                             int parallel,
                             double *times,
                             int *reps,
                             double *errors);

// Changes how this thread's next measurements of collectives and functions are done; all ranks
// set the same, and the measurement reports what differs. `value` is a text, or NULL for what
// holds at first, which is named first here:
//
// - "root": "0", the root of operations that have one, and the rank whose clock root timing reads;
// - "confirmation": "barrier", "reduce" or "messages", how the root learns that all are done, for
//   root timing;
// - "isolation": "barrier", "double-barrier", each also with an algorithm as in
//   "barrier:dissemination" or "barrier:native", "reduce", "p2p" or "none": what keeps repetitions
//   apart; start time and loop need none;
// - "start": "none" or any isolation: what all pass after it, right before a repetition;
// - "sync": "tree" or "offset", how clocks are compared, for global and start time;
// - "trips": "10", round trips without a shorter one that end a comparison, by offset alone;
// - "resync": "50", repetitions between two comparisons, for global timing;
// - "series": "100", calls of one series, for loop timing;
// - "cache": "warm", "cold" or a size as in "cold:64M": whether each call of a collective has
//   other buffers, which cycle through so much memory (256 MiB), so that they are not in the
//   cache. The buffers of a function are the caller's affair.
//
// # Safety
// Both are C strings, or the value is NULL.
int laneway_set(const char *name,
                const char *value);

// The value of a setting for this thread's next measurements, as laneway_set takes it; NULL for an
// unknown name. The text stays until the thread's next call of this function.
//
// # Safety
// The name is a C string or NULL.
const char *laneway_setting(const char *name);

// Collective over `comm`: says on which hosts of a platform its ranks are, so that laneway_call
// takes the algorithm "chosen". The platform is a file, or a generator as "two-sites:8x8"; that
// of rank 0 counts, and NULL there forgets what was said. `laneway sites measure` writes such a
// file. Hosts are found by their names. It is kept with the communicator, and goes when that is
// freed.
//
// # Safety
// The text is a C string, or NULL.
int laneway_place_ranks(int comm, const char *platform);

// What is chosen for an operation of `size` bytes over `comm`, whose ranks were placed before: its
// name with all parameters, which laneway_call takes as well, is written to `name`, which has room
// for `length` characters, and what it takes in the simulator in seconds to `predicted`; each may
// be NULL. Every rank may ask for itself, and all come to the same.
//
// # Safety
// The texts are C strings, `name` has so much room, and `predicted` has room for one number.
int laneway_choose(int comm,
                   const char *operation,
                   int size,
                   int root,
                   char *name,
                   int length,
                   double *predicted);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#ifndef LANEWAY_WITHOUT_MPI

// The Fortran handle of a communicator: an int under every MPI. The standard binary interface has
// a function of its own for it. Where MPI is not running nothing may be asked, and the library
// says so by itself.
static inline int laneway_comm(MPI_Comm comm) {
  int begun = 0, over = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&over);
  if (!begun || over) return -1;
#if defined(MPI_ABI_VERSION) && MPI_ABI_VERSION >= 1
  return MPI_Comm_toint(comm);
#else
  return (int)MPI_Comm_c2f(comm);
#endif
}

// What measures a collective: for n message sizes M in bytes, at least min_reps and at most
// max_reps repetitions each, until the error is at most alpha (0 < alpha < 1). Equal min_reps and
// max_reps are a fixed number, and alpha is not looked at. T in seconds, reps and the error a are
// arrays of n, filled on every rank.
//
//   int laneway_measure_coll_root(MPI_Comm comm, const char *op, const char *algorithm,
//           int n, const int *M, int min_reps, int max_reps, double alpha,
//           double *T, int *reps, double *a);
//   int laneway_measure_scatter_root(MPI_Comm comm, const char *algorithm, int n, ...);
//   int laneway_measure_gather_root(MPI_Comm comm, const char *algorithm, int n, ...);
//   int laneway_measure_bcast_root(MPI_Comm comm, const char *algorithm, int n, ...);
//
// What measures any function that all ranks call together, and that returns 0: for n sizes M, each
// given to it; or once, where T, reps and a are the addresses of one value each:
//
//   int laneway_measure_function_sizes_root(MPI_Comm comm, int (*f)(void *data, int size),
//           void *data, int n, const int *M, int min_reps, int max_reps, double alpha,
//           double *T, int *reps, double *a);
//   int laneway_measure_function_root(MPI_Comm comm, int (*f)(void *data), void *data,
//           int min_reps, int max_reps, double alpha, double *T, int *reps, double *a);
//
// And the same for the other timings: ..._maximum, ..._global, ..._start_time, ..._loop; for coll,
// scatter and bcast also ..._tasks. laneway_set() chooses the root, the confirmation of root
// timing, the isolation, and how clocks are compared.

#define LANEWAY_MEASURE_(name, timing, op) \
  static inline int laneway_measure_##name( \
      MPI_Comm comm, const char *algorithm, int n, const int *M, \
      int min_reps, int max_reps, double alpha, double *T, int *reps, double *a) { \
    return laneway_time_collective(laneway_comm(comm), timing, op, algorithm, n, M, \
                                   min_reps, max_reps, alpha, T, reps, a); \
  }

#define LANEWAY_MEASURE_COLL_(name, timing) \
  static inline int laneway_measure_coll_##name( \
      MPI_Comm comm, const char *op, const char *algorithm, int n, const int *M, \
      int min_reps, int max_reps, double alpha, double *T, int *reps, double *a) { \
    return laneway_time_collective(laneway_comm(comm), timing, op, algorithm, n, M, \
                                   min_reps, max_reps, alpha, T, reps, a); \
  } \
  LANEWAY_MEASURE_(scatter_##name, timing, "scatter") \
  LANEWAY_MEASURE_(bcast_##name, timing, "bcast")

#define LANEWAY_MEASURE_ALL_(name, timing) \
  LANEWAY_MEASURE_COLL_(name, timing) \
  LANEWAY_MEASURE_(gather_##name, timing, "gather") \
  static inline int laneway_measure_function_sizes_##name( \
      MPI_Comm comm, int (*f)(void *, int), void *data, int n, const int *M, \
      int min_reps, int max_reps, double alpha, double *T, int *reps, double *a) { \
    return laneway_time_function_sizes(laneway_comm(comm), timing, f, data, n, M, \
                                       min_reps, max_reps, alpha, T, reps, a); \
  } \
  static inline int laneway_measure_function_##name( \
      MPI_Comm comm, int (*f)(void *), void *data, \
      int min_reps, int max_reps, double alpha, double *T, int *reps, double *a) { \
    return laneway_time_function(laneway_comm(comm), timing, f, data, \
                                 min_reps, max_reps, alpha, T, reps, a); \
  }

LANEWAY_MEASURE_ALL_(root, LANEWAY_ROOT)
LANEWAY_MEASURE_ALL_(maximum, LANEWAY_MAXIMUM)
LANEWAY_MEASURE_ALL_(global, LANEWAY_GLOBAL)
LANEWAY_MEASURE_ALL_(start_time, LANEWAY_START_TIME)
LANEWAY_MEASURE_ALL_(loop, LANEWAY_LOOP)
LANEWAY_MEASURE_COLL_(tasks, LANEWAY_TASKS)

#undef LANEWAY_MEASURE_ALL_
#undef LANEWAY_MEASURE_COLL_
#undef LANEWAY_MEASURE_

// Round trips between all pairs of ranks i < j, M1 bytes out and M2 back: one pair after the
// other, or in parallel those that share no rank. With p ranks T, reps and a are arrays of
// p (p - 1) / 2, by i and then j, filled on every rank.
static inline int laneway_measure_p2p(
    MPI_Comm comm, int M1, int M2, int min_reps, int max_reps, double alpha, int parallel,
    double *T, int *reps, double *a) {
  return laneway_time_round_trips(laneway_comm(comm), M1, M2, min_reps, max_reps, alpha, parallel,
                                  T, reps, a);
}

// Point-to-two: i sends M bytes to j and then to k, and both answer with an empty message. With p
// ranks T, reps and a are arrays of p (p - 1) (p - 2) / 2, by i, then j, then k, with j < k;
// triples that share no rank are measured in parallel, or all of them one after the other.
static inline int laneway_measure_point_to_two(
    MPI_Comm comm, int M, int min_reps, int max_reps, double alpha, int parallel,
    double *T, int *reps, double *a) {
  return laneway_time_point_to_two(laneway_comm(comm), M, min_reps, max_reps, alpha, parallel, T,
                                   reps, a);
}

// An experiment of one's own on n subsets of the ranks, of lengths[i] members each, whose ranks are
// in members, subset after subset: in parallel on those that share no rank, or on one after the
// other. f is called on every member of a subset, with the ranks of the subset and this rank's
// place among them; the first leads. The time is what the leader's call takes, or what it writes
// to *seconds. T, reps and a are arrays of n, filled on every rank.
static inline int laneway_measure_experiment(
    MPI_Comm comm,
    int (*f)(void *data, int count, const int *ranks, int place, double *seconds), void *data,
    int n, const int *lengths, const int *members, int parallel,
    int min_reps, int max_reps, double alpha, double *T, int *reps, double *a) {
  return laneway_time_experiment(laneway_comm(comm), f, data, n, lengths, members, parallel,
                                 min_reps, max_reps, alpha, T, reps, a);
}

// One's own implementation of an MPI collective, with its very signature: the answer is compared
// with MPI's, byte by byte and with any datatypes, before it is timed and once more afterwards. A
// wrong answer, a send buffer that is changed, or a code that is not MPI_SUCCESS ends the
// measurement on every rank with LANEWAY_WRONG and no figure for that point.
//
//   typedef int laneway_scatter_function(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
//           void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
//   int laneway_measure_own_scatter_root(MPI_Comm comm, laneway_scatter_function *f,
//           MPI_Datatype sendtype, MPI_Datatype recvtype, int n, const int *sendcounts,
//           const int *recvcounts, int min_reps, int max_reps, double alpha,
//           double *T, int *reps, double *a);
//   int laneway_measure_own_bcast_root(MPI_Comm comm, laneway_bcast_function *f,
//           MPI_Datatype type, int n, const int *counts, ...);
//   int laneway_measure_own_reduce_root(MPI_Comm comm, laneway_reduce_function *f,
//           MPI_Datatype type, MPI_Op op, int n, const int *counts, ...);
//   int laneway_measure_own_scatterv_root(MPI_Comm comm, laneway_scatterv_function *f,
//           MPI_Datatype sendtype, MPI_Datatype recvtype, const int *sendcounts,
//           const int *displs, int recvcount, ...);
//
// gather, allgather and alltoall are as scatter; allreduce as reduce; gatherv has the counts and
// displacements of what is received: (..., sendtype, recvtype, sendcount, recvcounts, displs, ...).
// Point i has sendcounts[i] and recvcounts[i], the counts of one rank's block as in MPI. scatterv
// and gatherv have one point, and lists with an entry for each rank that all ranks give alike; each
// gives its own sendcount or recvcount. A reduction takes the numbers of C. The root is that of
// laneway_set("root", ...), and f is called on comm itself. The other timings are ..._maximum,
// ..._global, ..._start_time and ..._loop.

typedef int laneway_scatter_function(
    const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm);
typedef laneway_scatter_function laneway_gather_function;
typedef int laneway_allgather_function(
    const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm);
typedef laneway_allgather_function laneway_alltoall_function;
typedef int laneway_bcast_function(
    void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
typedef int laneway_reduce_function(
    const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, int root,
    MPI_Comm comm);
typedef int laneway_allreduce_function(
    const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
typedef int laneway_scatterv_function(
    const void *sendbuf, const int *sendcounts, const int *displs, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
typedef int laneway_gatherv_function(
    const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int *recvcounts, const int *displs, MPI_Datatype recvtype, int root, MPI_Comm comm);

// What follows, up to the functions themselves, is how they tell the library what a call needs.

// A function of any of these types, and its arguments.
struct laneway_own_ {
  enum laneway_operation kind;
  void (*function)(void);
  MPI_Datatype sendtype, recvtype;
  MPI_Op op;
  // Of each point, or of scatterv and gatherv one count and a list for all ranks.
  const int *sendcounts, *recvcounts, *displs;
  MPI_Comm comm;
};

// Widens span, from low to high, by count elements of a type from element first on.
static inline int laneway_widen_(MPI_Datatype type, double first, double count, long long *span) {
  MPI_Aint lb, extent, true_lb, true_extent;
  double low, high;
  if (count == 0) return 0;
  MPI_Type_get_extent(type, &lb, &extent);
  MPI_Type_get_true_extent(type, &true_lb, &true_extent);
  low = first * (double)extent + (double)true_lb;
  high = low + (count - 1) * (double)extent;
  if (high < low) {
    double turned = low;
    low = high;
    high = turned;
  }
  high += (double)true_extent;
  // Doubles are exact up to here.
  if (low < -9e15 || high > 9e15) return 7;
  if (low < (double)span[0]) span[0] = (long long)low;
  if (high > (double)span[1]) span[1] = (long long)high;
  return 0;
}

// How a number of C is to be filled: 1 whole, 2 float, 3 double; 0 where it is none.
static inline int laneway_number_(MPI_Datatype type) {
  const MPI_Datatype whole[] = {
      MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_INT, MPI_UNSIGNED,
      MPI_LONG, MPI_UNSIGNED_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG, MPI_INT8_T, MPI_UINT8_T,
      MPI_INT16_T, MPI_UINT16_T, MPI_INT32_T, MPI_UINT32_T, MPI_INT64_T, MPI_UINT64_T, MPI_BYTE};
  size_t i;
  for (i = 0; i < sizeof whole / sizeof *whole; i++)
    if (type == whole[i]) return 1;
  return type == MPI_FLOAT ? 2 : type == MPI_DOUBLE ? 3 : 0;
}

static inline long long laneway_mix_(long long mark, long long word) {
  return (long long)(((unsigned long long)mark ^ (unsigned long long)word) * 0x100000001b3ull);
}

// The blocks of scatterv (0) or gatherv (1) and what this rank's other buffer has to be.
static inline int laneway_describe_blocks_(
    const struct laneway_own_ *own, int gathers, int rank, int ranks, int root, long long *values) {
  const int *counts = gathers ? own->recvcounts : own->sendcounts;
  const int *single = gathers ? own->sendcounts : own->recvcounts;
  MPI_Datatype blocks = gathers ? own->recvtype : own->sendtype;
  MPI_Datatype other = gathers ? own->sendtype : own->recvtype;
  int i, j, of_block, of_other, bad = 0;
  if (!counts || !own->displs) return 1;
  if (single[0] < 0) return 2;
  MPI_Type_size(blocks, &of_block);
  MPI_Type_size(other, &of_other);
  for (i = 0; i < ranks; i++) {
    if (counts[i] < 0) return 2;
    values[7] = laneway_mix_(laneway_mix_(values[7], counts[i]), own->displs[i]);
    if (rank == root && !bad)
      bad = laneway_widen_(blocks, own->displs[i], counts[i], values + (gathers ? 2 : 0));
    for (j = 0; gathers && counts[i] && j < i; j++) {
      long long before = own->displs[j], here = own->displs[i];
      if (counts[j] && here < before + counts[j] && before < here + counts[i]) return 6;
    }
  }
  values[7] = laneway_mix_(values[7], of_block);
  if ((long long)counts[rank] * of_block != (long long)single[0] * of_other) return 4;
  return bad ? bad : laneway_widen_(other, 0, single[0], values + (gathers ? 0 : 2));
}

static inline int laneway_describe_(
    void *data, int rank, int ranks, int root, int point, long long *values) {
  const struct laneway_own_ *own = (const struct laneway_own_ *)data;
  enum laneway_operation kind = own->kind;
  int sent, received, of_sent, of_received, bad, reduces;
  double sends = 1, receives = 1;
  if (own->sendtype == MPI_DATATYPE_NULL || own->recvtype == MPI_DATATYPE_NULL) return 3;
  if (kind == LANEWAY_SCATTERV || kind == LANEWAY_GATHERV)
    return laneway_describe_blocks_(own, kind == LANEWAY_GATHERV, rank, ranks, root, values);
  if (!own->sendcounts || !own->recvcounts) return 1;
  sent = own->sendcounts[point];
  received = own->recvcounts[point];
  if (sent < 0 || received < 0) return 2;
  MPI_Type_size(own->sendtype, &of_sent);
  MPI_Type_size(own->recvtype, &of_received);
  if ((long long)sent * of_sent != (long long)received * of_received) return 4;
  values[7] = laneway_mix_(values[7], (long long)sent * of_sent);
  // How many blocks this rank has in each buffer.
  if (kind == LANEWAY_SCATTER) sends = rank == root ? ranks : 0;
  if (kind == LANEWAY_ALLTOALL) sends = ranks;
  if (kind == LANEWAY_BCAST) sends = 0;
  if (kind == LANEWAY_GATHER) receives = rank == root ? ranks : 0;
  if (kind == LANEWAY_ALLGATHER || kind == LANEWAY_ALLTOALL) receives = ranks;
  if (kind == LANEWAY_REDUCE) receives = rank == root;
  reduces = kind == LANEWAY_REDUCE || kind == LANEWAY_ALLREDUCE;
  if (reduces) {
    values[4] = laneway_number_(own->sendtype);
    values[5] = of_sent;
    // Products of ones and twos are exact for long.
    values[6] = own->op == MPI_PROD ? 2 : 13;
    if (!values[4]) return 5;
    if (own->op == MPI_OP_NULL) return 8;
  }
  bad = laneway_widen_(own->sendtype, 0, sends * sent, values);
  return bad ? bad : laneway_widen_(own->recvtype, 0, receives * received, values + 2);
}

static inline int laneway_make_(
    void *data, int mpis, int root, int point, void *send, void *receive) {
  const struct laneway_own_ *o = (const struct laneway_own_ *)data;
#define LANEWAY_CHOSEN_(type, mpi) (mpis ? mpi : (laneway_##type##_function *)o->function)
  switch (o->kind) {
    case LANEWAY_SCATTER:
      return LANEWAY_CHOSEN_(scatter, MPI_Scatter)(
          send, o->sendcounts[point], o->sendtype, receive, o->recvcounts[point], o->recvtype,
          root, o->comm);
    case LANEWAY_GATHER:
      return LANEWAY_CHOSEN_(gather, MPI_Gather)(
          send, o->sendcounts[point], o->sendtype, receive, o->recvcounts[point], o->recvtype,
          root, o->comm);
    case LANEWAY_ALLGATHER:
      return LANEWAY_CHOSEN_(allgather, MPI_Allgather)(
          send, o->sendcounts[point], o->sendtype, receive, o->recvcounts[point], o->recvtype,
          o->comm);
    case LANEWAY_ALLTOALL:
      return LANEWAY_CHOSEN_(alltoall, MPI_Alltoall)(
          send, o->sendcounts[point], o->sendtype, receive, o->recvcounts[point], o->recvtype,
          o->comm);
    case LANEWAY_BCAST:
      return LANEWAY_CHOSEN_(bcast, MPI_Bcast)(
          receive, o->recvcounts[point], o->recvtype, root, o->comm);
    case LANEWAY_REDUCE:
      return LANEWAY_CHOSEN_(reduce, MPI_Reduce)(
          send, receive, o->sendcounts[point], o->sendtype, o->op, root, o->comm);
    case LANEWAY_ALLREDUCE:
      return LANEWAY_CHOSEN_(allreduce, MPI_Allreduce)(
          send, receive, o->sendcounts[point], o->sendtype, o->op, o->comm);
    case LANEWAY_SCATTERV:
      return LANEWAY_CHOSEN_(scatterv, MPI_Scatterv)(
          send, o->sendcounts, o->displs, o->sendtype, receive, o->recvcounts[0], o->recvtype,
          root, o->comm);
    case LANEWAY_GATHERV:
      return LANEWAY_CHOSEN_(gatherv, MPI_Gatherv)(
          send, o->sendcounts[0], o->sendtype, receive, o->recvcounts, o->displs, o->recvtype,
          root, o->comm);
    default:
      return MPI_ERR_OTHER;
  }
#undef LANEWAY_CHOSEN_
}

// Calls the library for one of these functions.
static inline int laneway_time_own_(
    enum laneway_operation kind, const char *name, int timing, MPI_Comm comm, void (*function)(void),
    MPI_Datatype sendtype, MPI_Datatype recvtype, MPI_Op op, const int *sendcounts,
    const int *recvcounts, const int *displs, int n, int min_reps, int max_reps, double alpha,
    double *T, int *reps, double *a) {
  struct laneway_own_ own;
  own.kind = kind;
  own.function = function;
  own.sendtype = sendtype;
  own.recvtype = recvtype;
  own.op = op;
  own.sendcounts = sendcounts;
  own.recvcounts = recvcounts;
  own.displs = displs;
  own.comm = comm;
  return laneway_time_own(laneway_comm(comm), timing, name, laneway_describe_,
                          function ? laneway_make_ : NULL, &own, n, min_reps, max_reps, alpha, T,
                          reps, a);
}

#define LANEWAY_MEASURE_OWN_BLOCKS_(name, timing, op, kind, mpi) \
  static inline int laneway_measure_own_##op##_##name( \
      MPI_Comm comm, laneway_##op##_function *f, MPI_Datatype sendtype, MPI_Datatype recvtype, \
      int n, const int *sendcounts, const int *recvcounts, \
      int min_reps, int max_reps, double alpha, double *T, int *reps, double *a) { \
    return laneway_time_own_(kind, mpi, timing, comm, (void (*)(void))f, sendtype, recvtype, \
                             MPI_OP_NULL, sendcounts, recvcounts, NULL, n, min_reps, max_reps, \
                             alpha, T, reps, a); \
  }

#define LANEWAY_MEASURE_OWN_VECTOR_(name, timing, op_name, kind, mpi) \
  static inline int laneway_measure_own_##op_name##_##name( \
      MPI_Comm comm, laneway_##op_name##_function *f, MPI_Datatype type, MPI_Op op, int n, \
      const int *counts, int min_reps, int max_reps, double alpha, \
      double *T, int *reps, double *a) { \
    return laneway_time_own_(kind, mpi, timing, comm, (void (*)(void))f, type, type, op, counts, \
                             counts, NULL, n, min_reps, max_reps, alpha, T, reps, a); \
  }

#define LANEWAY_MEASURE_OWN_(name, timing) \
  LANEWAY_MEASURE_OWN_BLOCKS_(name, timing, scatter, LANEWAY_SCATTER, "Scatter") \
  LANEWAY_MEASURE_OWN_BLOCKS_(name, timing, gather, LANEWAY_GATHER, "Gather") \
  LANEWAY_MEASURE_OWN_BLOCKS_(name, timing, allgather, LANEWAY_ALLGATHER, "Allgather") \
  LANEWAY_MEASURE_OWN_BLOCKS_(name, timing, alltoall, LANEWAY_ALLTOALL, "Alltoall") \
  LANEWAY_MEASURE_OWN_VECTOR_(name, timing, reduce, LANEWAY_REDUCE, "Reduce") \
  LANEWAY_MEASURE_OWN_VECTOR_(name, timing, allreduce, LANEWAY_ALLREDUCE, "Allreduce") \
  static inline int laneway_measure_own_bcast_##name( \
      MPI_Comm comm, laneway_bcast_function *f, MPI_Datatype type, int n, const int *counts, \
      int min_reps, int max_reps, double alpha, double *T, int *reps, double *a) { \
    return laneway_time_own_(LANEWAY_BCAST, "Bcast", timing, comm, (void (*)(void))f, type, \
                             type, MPI_OP_NULL, counts, counts, NULL, n, min_reps, max_reps, \
                             alpha, T, reps, a); \
  } \
  static inline int laneway_measure_own_scatterv_##name( \
      MPI_Comm comm, laneway_scatterv_function *f, MPI_Datatype sendtype, \
      MPI_Datatype recvtype, const int *sendcounts, const int *displs, int recvcount, \
      int min_reps, int max_reps, double alpha, double *T, int *reps, double *a) { \
    return laneway_time_own_(LANEWAY_SCATTERV, "Scatterv", timing, comm, (void (*)(void))f, \
                             sendtype, recvtype, MPI_OP_NULL, sendcounts, &recvcount, displs, 1, \
                             min_reps, max_reps, alpha, T, reps, a); \
  } \
  static inline int laneway_measure_own_gatherv_##name( \
      MPI_Comm comm, laneway_gatherv_function *f, MPI_Datatype sendtype, \
      MPI_Datatype recvtype, int sendcount, const int *recvcounts, const int *displs, \
      int min_reps, int max_reps, double alpha, double *T, int *reps, double *a) { \
    return laneway_time_own_(LANEWAY_GATHERV, "Gatherv", timing, comm, (void (*)(void))f, \
                             sendtype, recvtype, MPI_OP_NULL, &sendcount, recvcounts, displs, 1, \
                             min_reps, max_reps, alpha, T, reps, a); \
  }

LANEWAY_MEASURE_OWN_(root, LANEWAY_ROOT)
LANEWAY_MEASURE_OWN_(maximum, LANEWAY_MAXIMUM)
LANEWAY_MEASURE_OWN_(global, LANEWAY_GLOBAL)
LANEWAY_MEASURE_OWN_(start_time, LANEWAY_START_TIME)
LANEWAY_MEASURE_OWN_(loop, LANEWAY_LOOP)

#undef LANEWAY_MEASURE_OWN_
#undef LANEWAY_MEASURE_OWN_VECTOR_
#undef LANEWAY_MEASURE_OWN_BLOCKS_

// Over several sites: laneway_place says on which hosts of a platform the ranks are (NULL forgets
// it), and then "chosen" is an algorithm of the functions below. laneway_choice tells what that is.

static inline int laneway_place(MPI_Comm comm, const char *platform) {
  return laneway_place_ranks(laneway_comm(comm), platform);
}

static inline int laneway_choice(
    MPI_Comm comm, const char *op, int size, int root, char *name, int length, double *predicted) {
  return laneway_choose(laneway_comm(comm), op, size, root, name, length, predicted);
}

// A model of the network: estimated by these ranks, and asked what any algorithm would take.
static inline int laneway_estimate_model(
    MPI_Comm comm, const char *model, double precision, int parallel, double budget,
    laneway_model **out) {
  return laneway_estimate_ranks(laneway_comm(comm), model, precision, parallel, budget, out);
}

// A collective of MPI by an algorithm that was measured. The members are the arguments of the MPI
// function of that name; those that it does not have, or that count on the root alone, are not
// looked at. A broadcast has its buffer, count and datatype in recvbuf, recvcount and recvtype; a
// reduction has its count or counts and its datatype there, and its input in sendbuf. sendbuf, and
// of scatter and scatterv the root's recvbuf, may be MPI_IN_PLACE where MPI takes it.
//
//   laneway_call_options call = LANEWAY_CALL_OPTIONS;
//   call.operation = LANEWAY_ALLREDUCE;
//   call.algorithm = "ring";
//   call.sendbuf = MPI_IN_PLACE;
//   call.recvbuf = vector;
//   call.recvcount = 1000;
//   call.recvtype = MPI_DOUBLE;
//   call.op = MPI_SUM;
//   int code = laneway_call(comm, &call);
typedef struct laneway_call_options {
  // Set by LANEWAY_CALL_OPTIONS: a later version may have more members.
  size_t size;
  enum laneway_operation operation;
  // A name that `laneway info algorithms` prints, "native" for MPI's own, or "chosen".
  const char *algorithm;
  const void *sendbuf;
  int sendcount;
  const int *sendcounts, *sdispls;
  MPI_Datatype sendtype;
  void *recvbuf;
  int recvcount;
  const int *recvcounts, *rdispls;
  MPI_Datatype recvtype;
  MPI_Op op;
  int root;
} laneway_call_options;

// What every laneway_call_options begins with.
#define LANEWAY_CALL_OPTIONS \
  {sizeof(laneway_call_options), (enum laneway_operation)0, NULL, NULL, 0, NULL, NULL, \
   MPI_DATATYPE_NULL, NULL, 0, NULL, NULL, MPI_DATATYPE_NULL, MPI_OP_NULL, 0}

// What the library has to know of a datatype, and its Fortran handle.
static inline int laneway_element_(MPI_Datatype type, int *handle) {
  const struct {
    MPI_Datatype type;
    int element;
  } known[] = {
      {MPI_SIGNED_CHAR, LANEWAY_ELEMENT_I8},
      {MPI_UNSIGNED_CHAR, LANEWAY_ELEMENT_U8},
      {MPI_SHORT, LANEWAY_ELEMENT_I16},
      {MPI_UNSIGNED_SHORT, LANEWAY_ELEMENT_U16},
      {MPI_INT, LANEWAY_ELEMENT_I32},
      {MPI_UNSIGNED, LANEWAY_ELEMENT_U32},
      {MPI_LONG, sizeof(long) == 8 ? LANEWAY_ELEMENT_I64 : LANEWAY_ELEMENT_I32},
      {MPI_UNSIGNED_LONG, sizeof(long) == 8 ? LANEWAY_ELEMENT_U64 : LANEWAY_ELEMENT_U32},
      {MPI_LONG_LONG, LANEWAY_ELEMENT_I64},
      {MPI_UNSIGNED_LONG_LONG, LANEWAY_ELEMENT_U64},
      {MPI_INT8_T, LANEWAY_ELEMENT_I8},
      {MPI_INT16_T, LANEWAY_ELEMENT_I16},
      {MPI_INT32_T, LANEWAY_ELEMENT_I32},
      {MPI_INT64_T, LANEWAY_ELEMENT_I64},
      {MPI_UINT8_T, LANEWAY_ELEMENT_U8},
      {MPI_UINT16_T, LANEWAY_ELEMENT_U16},
      {MPI_UINT32_T, LANEWAY_ELEMENT_U32},
      {MPI_UINT64_T, LANEWAY_ELEMENT_U64},
      {MPI_AINT, LANEWAY_ELEMENT_I64},
      {MPI_OFFSET, LANEWAY_ELEMENT_I64},
      {MPI_FLOAT, LANEWAY_ELEMENT_F32},
      {MPI_DOUBLE, LANEWAY_ELEMENT_F64},
      {MPI_BYTE, LANEWAY_ELEMENT_BYTE},
      {MPI_FLOAT_INT, LANEWAY_ELEMENT_PAIR},
      {MPI_DOUBLE_INT, LANEWAY_ELEMENT_PAIR},
      {MPI_LONG_INT, LANEWAY_ELEMENT_PAIR},
      {MPI_2INT, LANEWAY_ELEMENT_PAIR},
      {MPI_SHORT_INT, LANEWAY_ELEMENT_PAIR},
      {MPI_LONG_DOUBLE_INT, LANEWAY_ELEMENT_PAIR},
      {MPI_LONG_DOUBLE, LANEWAY_ELEMENT_LONG_DOUBLE},
      {MPI_C_FLOAT_COMPLEX, LANEWAY_ELEMENT_COMPLEX},
      {MPI_C_DOUBLE_COMPLEX, LANEWAY_ELEMENT_COMPLEX},
      {MPI_C_BOOL, LANEWAY_ELEMENT_BOOL}};
  size_t i;
  if (type == MPI_DATATYPE_NULL) return LANEWAY_ELEMENT_NULL;
#if defined(MPI_ABI_VERSION) && MPI_ABI_VERSION >= 1
  *handle = MPI_Type_toint(type);
#else
  *handle = (int)MPI_Type_c2f(type);
#endif
  for (i = 0; i < sizeof known / sizeof *known; i++)
    if (type == known[i].type) return known[i].element;
  return LANEWAY_ELEMENT_OTHER;
}

// What the library has to know of an operator, and its Fortran handle.
static inline int laneway_operator_(MPI_Op op, int *handle) {
  const struct {
    MPI_Op op;
    int kind;
  } known[] = {
      {MPI_SUM, LANEWAY_OPERATOR_SUM},       {MPI_PROD, LANEWAY_OPERATOR_PROD},
      {MPI_MIN, LANEWAY_OPERATOR_MIN},       {MPI_MAX, LANEWAY_OPERATOR_MAX},
      {MPI_BAND, LANEWAY_OPERATOR_BAND},     {MPI_BOR, LANEWAY_OPERATOR_BOR},
      {MPI_BXOR, LANEWAY_OPERATOR_BXOR},     {MPI_LAND, LANEWAY_OPERATOR_LAND},
      {MPI_LOR, LANEWAY_OPERATOR_LOR},       {MPI_LXOR, LANEWAY_OPERATOR_LXOR},
      {MPI_MINLOC, LANEWAY_OPERATOR_MINLOC}, {MPI_MAXLOC, LANEWAY_OPERATOR_MAXLOC},
      {MPI_REPLACE, LANEWAY_OPERATOR_NOT},   {MPI_NO_OP, LANEWAY_OPERATOR_NOT}};
  size_t i;
  if (op == MPI_OP_NULL) return LANEWAY_OPERATOR_NULL;
#if defined(MPI_ABI_VERSION) && MPI_ABI_VERSION >= 1
  *handle = MPI_Op_toint(op);
#else
  *handle = (int)MPI_Op_c2f(op);
#endif
  for (i = 0; i < sizeof known / sizeof *known; i++)
    if (op == known[i].op) return known[i].kind;
  return LANEWAY_OPERATOR_USER;
}

static inline int laneway_call(MPI_Comm comm, const laneway_call_options *options) {
  laneway_call_arguments given;
  int handle = laneway_comm(comm), running = handle != -1;
  if (!options) return laneway_call_by_handles(handle, NULL);
  given.size = options->size == sizeof *options ? sizeof given : 0;
  given.algorithm = options->algorithm;
  given.sendbuf = options->sendbuf;
  given.sendcounts = options->sendcounts;
  given.sdispls = options->sdispls;
  given.recvbuf = options->recvbuf;
  given.recvcounts = options->recvcounts;
  given.rdispls = options->rdispls;
  given.operation = (int)options->operation;
  given.sendcount = options->sendcount;
  given.recvcount = options->recvcount;
  given.sendtype = given.recvtype = given.op = 0;
  given.sendelement = given.recvelement = LANEWAY_ELEMENT_NULL;
  given.operator_kind = LANEWAY_OPERATOR_NULL;
  given.root = options->root;
  // Handles are read only if the options were initialised and MPI can be asked.
  if (running && given.size) {
    given.sendelement = laneway_element_(options->sendtype, &given.sendtype);
    given.recvelement = laneway_element_(options->recvtype, &given.recvtype);
    given.operator_kind = laneway_operator_(options->op, &given.op);
  }
  return laneway_call_by_handles(handle, &given);
}

// The same with the arguments of the MPI functions, after the name of an algorithm.

static inline int laneway_barrier(const char *algorithm, MPI_Comm comm) {
  laneway_call_options call = LANEWAY_CALL_OPTIONS;
  call.operation = LANEWAY_BARRIER;
  call.algorithm = algorithm;
  return laneway_call(comm, &call);
}

static inline int laneway_bcast(
    const char *algorithm, void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  laneway_call_options call = LANEWAY_CALL_OPTIONS;
  call.operation = LANEWAY_BCAST;
  call.algorithm = algorithm;
  call.recvbuf = buffer;
  call.recvcount = count;
  call.recvtype = type;
  call.root = root;
  return laneway_call(comm, &call);
}

// Those that move blocks of one length.
static inline int laneway_blocks_(
    enum laneway_operation operation, const char *algorithm, const void *sendbuf, int sendcount,
    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm) {
  laneway_call_options call = LANEWAY_CALL_OPTIONS;
  call.operation = operation;
  call.algorithm = algorithm;
  call.sendbuf = sendbuf;
  call.sendcount = sendcount;
  call.sendtype = sendtype;
  call.recvbuf = recvbuf;
  call.recvcount = recvcount;
  call.recvtype = recvtype;
  call.root = root;
  return laneway_call(comm, &call);
}

static inline int laneway_scatter(
    const char *algorithm, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return laneway_blocks_(LANEWAY_SCATTER, algorithm, sendbuf, sendcount, sendtype, recvbuf,
                         recvcount, recvtype, root, comm);
}

static inline int laneway_gather(
    const char *algorithm, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return laneway_blocks_(LANEWAY_GATHER, algorithm, sendbuf, sendcount, sendtype, recvbuf,
                         recvcount, recvtype, root, comm);
}

static inline int laneway_allgather(
    const char *algorithm, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return laneway_blocks_(LANEWAY_ALLGATHER, algorithm, sendbuf, sendcount, sendtype, recvbuf,
                         recvcount, recvtype, 0, comm);
}

static inline int laneway_alltoall(
    const char *algorithm, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return laneway_blocks_(LANEWAY_ALLTOALL, algorithm, sendbuf, sendcount, sendtype, recvbuf,
                         recvcount, recvtype, 0, comm);
}

// Those that move blocks of differing lengths.

static inline int laneway_scatterv(
    const char *algorithm, const void *sendbuf, const int *sendcounts, const int *displs,
    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm) {
  laneway_call_options call = LANEWAY_CALL_OPTIONS;
  call.operation = LANEWAY_SCATTERV;
  call.algorithm = algorithm;
  call.sendbuf = sendbuf;
  call.sendcounts = sendcounts;
  call.sdispls = displs;
  call.sendtype = sendtype;
  call.recvbuf = recvbuf;
  call.recvcount = recvcount;
  call.recvtype = recvtype;
  call.root = root;
  return laneway_call(comm, &call);
}

static inline int laneway_collect_(
    enum laneway_operation operation, const char *algorithm, const void *sendbuf, int sendcount,
    MPI_Datatype sendtype, void *recvbuf, const int *recvcounts, const int *displs,
    MPI_Datatype recvtype, int root, MPI_Comm comm) {
  laneway_call_options call = LANEWAY_CALL_OPTIONS;
  call.operation = operation;
  call.algorithm = algorithm;
  call.sendbuf = sendbuf;
  call.sendcount = sendcount;
  call.sendtype = sendtype;
  call.recvbuf = recvbuf;
  call.recvcounts = recvcounts;
  call.rdispls = displs;
  call.recvtype = recvtype;
  call.root = root;
  return laneway_call(comm, &call);
}

static inline int laneway_gatherv(
    const char *algorithm, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, const int *recvcounts, const int *displs, MPI_Datatype recvtype, int root,
    MPI_Comm comm) {
  return laneway_collect_(LANEWAY_GATHERV, algorithm, sendbuf, sendcount, sendtype, recvbuf,
                          recvcounts, displs, recvtype, root, comm);
}

static inline int laneway_allgatherv(
    const char *algorithm, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, const int *recvcounts, const int *displs, MPI_Datatype recvtype,
    MPI_Comm comm) {
  return laneway_collect_(LANEWAY_ALLGATHERV, algorithm, sendbuf, sendcount, sendtype, recvbuf,
                          recvcounts, displs, recvtype, 0, comm);
}

static inline int laneway_alltoallv(
    const char *algorithm, const void *sendbuf, const int *sendcounts, const int *sdispls,
    MPI_Datatype sendtype, void *recvbuf, const int *recvcounts, const int *rdispls,
    MPI_Datatype recvtype, MPI_Comm comm) {
  laneway_call_options call = LANEWAY_CALL_OPTIONS;
  call.operation = LANEWAY_ALLTOALLV;
  call.algorithm = algorithm;
  call.sendbuf = sendbuf;
  call.sendcounts = sendcounts;
  call.sdispls = sdispls;
  call.sendtype = sendtype;
  call.recvbuf = recvbuf;
  call.recvcounts = recvcounts;
  call.rdispls = rdispls;
  call.recvtype = recvtype;
  return laneway_call(comm, &call);
}

// Those that reduce.
static inline int laneway_reduction_(
    enum laneway_operation operation, const char *algorithm, const void *sendbuf, void *recvbuf,
    int count, const int *recvcounts, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  laneway_call_options call = LANEWAY_CALL_OPTIONS;
  call.operation = operation;
  call.algorithm = algorithm;
  call.sendbuf = sendbuf;
  call.recvbuf = recvbuf;
  call.recvcount = count;
  call.recvcounts = recvcounts;
  call.recvtype = type;
  call.op = op;
  call.root = root;
  return laneway_call(comm, &call);
}

static inline int laneway_reduce(
    const char *algorithm, const void *sendbuf, void *recvbuf, int count, MPI_Datatype type,
    MPI_Op op, int root, MPI_Comm comm) {
  return laneway_reduction_(LANEWAY_REDUCE, algorithm, sendbuf, recvbuf, count, NULL, type, op,
                            root, comm);
}

static inline int laneway_reduce_scatter(
    const char *algorithm, const void *sendbuf, void *recvbuf, const int *recvcounts,
    MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return laneway_reduction_(LANEWAY_REDUCE_SCATTER, algorithm, sendbuf, recvbuf, 0, recvcounts,
                            type, op, 0, comm);
}

#define LANEWAY_REDUCTION_(name, operation) \
  static inline int laneway_##name( \
      const char *algorithm, const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, \
      MPI_Op op, MPI_Comm comm) { \
    return laneway_reduction_(operation, algorithm, sendbuf, recvbuf, count, NULL, type, op, 0, \
                              comm); \
  }

LANEWAY_REDUCTION_(allreduce, LANEWAY_ALLREDUCE)
LANEWAY_REDUCTION_(reduce_scatter_block, LANEWAY_REDUCE_SCATTER_BLOCK)
LANEWAY_REDUCTION_(scan, LANEWAY_SCAN)
LANEWAY_REDUCTION_(exscan, LANEWAY_EXSCAN)

#undef LANEWAY_REDUCTION_

#endif // LANEWAY_WITHOUT_MPI
