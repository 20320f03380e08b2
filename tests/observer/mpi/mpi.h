/* SPDX-License-Identifier: Apache-2.0 */
/* A small MPI library for tests, where there is no other: one process, which sends to itself. Its handles are ints, as
 * MPICH's are. */
#ifndef SMALL_MPI_H
#define SMALL_MPI_H

#include <stdint.h>

typedef int MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request;
typedef intptr_t MPI_Aint;
typedef struct {
    int source;
} MPI_Status;

#define MPI_SUCCESS 0
#define MPI_COMM_WORLD 0x44000000
#define MPI_COMM_SELF 0x44000001
#define MPI_BYTE 0x4c00010d
#define MPI_INT 0x4c000405
#define MPI_SUM 0x58000003
#define MPI_PROC_NULL (-1)
#define MPI_REQUEST_NULL 0x2c000000
#define MPI_IN_PLACE ((void *)-1)
#define MPI_STATUS_IGNORE ((MPI_Status *)1)
#define MPI_STATUSES_IGNORE ((MPI_Status *)1)

#ifdef __cplusplus
extern "C" {
#endif
int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);
int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Comm_size(MPI_Comm comm, int *size);
int MPI_Comm_test_inter(MPI_Comm comm, int *flag);
int MPI_Type_size(MPI_Datatype type, int *size);
int MPI_Type_get_extent(MPI_Datatype type, MPI_Aint *lower, MPI_Aint *extent);
int MPI_Type_get_true_extent(MPI_Datatype type, MPI_Aint *lower, MPI_Aint *extent);
int MPI_Type_vector(int count, int length, int stride, MPI_Datatype old, MPI_Datatype *type);
int MPI_Type_create_resized(MPI_Datatype old, MPI_Aint lower, MPI_Aint extent, MPI_Datatype *type);
int MPI_Type_commit(MPI_Datatype *type);
int MPI_Type_free(MPI_Datatype *type);
int MPI_Pack_size(int count, MPI_Datatype type, MPI_Comm comm, int *size);
int MPI_Unpack(const void *from, int size, int *position, void *to, int count, MPI_Datatype type, MPI_Comm comm);
int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Send_init(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request *request);
int MPI_Start(MPI_Request *request);
int MPI_Request_free(MPI_Request *request);
int MPI_Wait(MPI_Request *request, MPI_Status *status);
int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses);
int MPI_Testany(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status);
int MPI_Allreduce(const void *out, void *in, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm);
int MPI_Gatherv(const void *out, int out_count, MPI_Datatype out_type, void *in, const int *in_counts,
                const int *in_places, MPI_Datatype in_type, int root, MPI_Comm comm);
int MPIX_Query_cuda_support(void);
#ifdef __cplusplus
}
#endif

#endif
