/// Stands in for OpenMP's header where the host compiler's is not installed, so that a file parses without it.
#pragma once

extern "C" {
typedef struct {
    unsigned char opaque[8];
} omp_lock_t;
int omp_get_num_threads(void);
int omp_get_max_threads(void);
int omp_get_thread_num(void);
int omp_get_num_procs(void);
void omp_set_num_threads(int threads);
int omp_in_parallel(void);
void omp_set_dynamic(int dynamic);
void omp_set_nested(int nested);
double omp_get_wtime(void);
double omp_get_wtick(void);
void omp_init_lock(omp_lock_t* lock);
void omp_destroy_lock(omp_lock_t* lock);
void omp_set_lock(omp_lock_t* lock);
void omp_unset_lock(omp_lock_t* lock);
int omp_test_lock(omp_lock_t* lock);
}
