/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Random PTX programs. A program is a tree of statements: instructions, branches,
 * loops, memory of the thread's own, memory of all, warp and block operations,
 * calls. draw.c makes one from a seed, text.c writes it as PTX, model.c says what
 * it leaves in memory, main.c runs it and compares.
 *
 * A program leaves nothing open. Threads write only what is theirs, or meet at
 * barriers around it, or add to it by operations whose order does not matter.
 * Every warp operation names its lanes: each branch and loop finds out by a vote
 * of the lanes around it which of them come along.
 */
#ifndef MR_TESTS_PTXRANDOM_H
#define MR_TESTS_PTXRANDOM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

#define REGS 6u          /* of each class */
#define NODES_MAX 600u
#define INPUT_WORDS 1024u
#define OWN_BYTES 64u    /* of a thread: in global memory one behind the other, in local memory */
#define SPREAD_WORDS 8u  /* of a thread: word k of all threads side by side; also 2 in shared memory */
#define SUMS 16u         /* words that all threads add to */
#define LOCK_WORDS 2u    /* behind them: the lock, and what it guards */
#define THREADS_MAX 512u
#define FUNCTIONS 6u
#define PARAMS 8u
#define RESULTS 4u
#define DEPTHS 4u         /* how deep calls of a ring may be, and that this is a register's matter */

enum class { CLASS_R, CLASS_D, CLASS_H, CLASS_F, CLASS_G, CLASS_P, CLASSES };

/* A thread as the model sees it; `reg` holds bits, zero-extended. */
struct thread {
    u64 reg[CLASSES][REGS];
    u32 tid[3], block, lane, linear; /* linear: in the grid */
    uint8_t own[OWN_BYTES], local[OWN_BYTES];
    u32 spread[SPREAD_WORDS], window[2];
    u64 slot;                        /* in shared memory, for others to read */
    u32 count;                       /* how much deeper calls may go */
};

struct op {
    int group;
    char result;
    const char *sources, *text;
    u64 (*value)(u64 a, u64 b, u64 c, u32 i, const struct thread *t);
};
extern const struct op ops[];
extern const unsigned op_count;

enum kind {
    OPERATION,    /* op, optional guard */
    IF,           /* p ? body : other */
    SWITCH,       /* brx.idx by r & 3: arms body, other, third, fourth */
    LOOP,         /* r & 7 times, or `value` times if uniform */
    BREAK,        /* lanes with p leave the innermost loop */
    LOAD,
    STORE,  /* own memory */
    INPUT,        /* r = input[r & 1023] */
    ATOM,         /* own word, with the old value as the result */
    SUM,          /* a word of all */
    LOCKED,       /* a word of all, changed by plain loads and stores under a lock */
    SHUFFLE,
    VOTE,
    MATCH,
    REDUCE,
    EXCHANGE,     /* write one's slot, meet, read another's, meet */
    MEET,         /* bar.red */
    CALL,
    INVOKE,       /* a call of a function with a signature of its own */
    LEAVE         /* lanes with p exit, or return from the function */
};

enum place { OWN, SPREAD, LOCAL, WINDOW, PLACES };

struct node {
    uint8_t kind, form;      /* form: a choice among a kind's, see text.c and model.c */
    uint16_t op;
    uint8_t dst, src[3];     /* register numbers; the classes follow from the kind */
    bool constant[3];        /* source i is `value` */
    int8_t guard;            /* -1 none; else a predicate, negated if guard_not */
    bool guard_not, uniform, dynamic, generic;
    uint8_t place, type;
    u32 number;              /* unique: names labels */
    s64 value;
    /* INVOKE: by slot the register that is passed, unless its bit says that `value` is, and the one that takes a
     * result, or NOWHERE. */
    uint8_t pass[PARAMS], take[RESULTS], numbers, depth;
    bool inner, around;      /* within the ring; the guard is a branch around it */
    int next, body, other, third, fourth; /* lists; -1 empty */
};

#define NOWHERE 255u

/* What is passed: its class, the register that has it in the function, and how it goes there. A struct is three slots
 * in a row: D, R, F. */
enum form { IN_REGISTER, IN_VARIABLE, IN_STRUCT };
struct slot {
    uint8_t class, reg, form;
};

struct function {
    int body;
    /* The rest is for functions with signatures of their own. */
    bool ring;       /* may call those of its kind, with a count that gets less */
    bool base;       /* has the addresses of own memory and of the sums */
    bool counts;     /* has the lanes that are there, and warp operations */
    bool meets;      /* has barriers: the block calls it together */
    bool variables;  /* what belongs to all this is passed in variables */
    unsigned param_count, result_count;
    struct slot params[PARAMS], results[RESULTS];
    u32 cost;        /* at most so many statements run in a call */
};

/* What the functions of a program are like. */
enum calls {
    CALLS_FIXED,     /* one signature, variables */
    CALLS_REAL,      /* all that NVIDIA's assembler takes together */
    CALLS_ANY        /* all that the manual allows */
};

struct program {
    u64 seed;
    unsigned grid, block[3], threads; /* threads of a block */
    bool warps;              /* has warp operations, and keeps track of lanes */
    unsigned node_count;
    struct node nodes[NODES_MAX];
    int body;
    struct function functions[FUNCTIONS];
    unsigned function_count;
    enum calls calls;
    bool locks;              /* has locks, or else, if functions have signatures, warp operations in functions */
    bool abi, several; /* functions call themselves and go through pointers; have several results, predicates and halves
                          in registers */
    u32 param;
    u32 input[INPUT_WORDS];
};

/* Types of loads and stores. */
struct access {
    const char *name;
    enum class class;
    unsigned bytes;
    bool sign;
};
extern const struct access accesses[];
#define ACCESSES 8u

/* What a run leaves. Room for THREADS_MAX threads. */
struct memory {
    u64 out[THREADS_MAX][CLASSES * REGS];
    uint8_t own[THREADS_MAX][OWN_BYTES];
    u32 spread[SPREAD_WORDS * THREADS_MAX]; /* [k * all threads + thread] */
    u32 sums[SUMS + LOCK_WORDS];
};

u64 draw_bits(u64 *state);
void draw_program(struct program *program, u64 seed, enum calls calls);
/* What a register of such a function holds at its start, if no parameter is there, and a constant as an argument. */
u64 value_at_start(enum class class, unsigned number);
u64 value_of_constant(enum class class, s64 value);
void put_program(FILE *file, const struct program *program);
/* `memory` holds what is there before, then what must be there after. */
void model_run(const struct program *program, struct memory *memory);

#endif
