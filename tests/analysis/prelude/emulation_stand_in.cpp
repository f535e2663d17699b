// The worker's side of emulation_abi.h for a lone thread: enough for functions that concern no
// other.
#include "kernelskill/emulation_abi.h"

#include <cstdlib>

extern "C" {
void ks_atomic(const void*, unsigned, int) {}
void ks_load(const void*, unsigned) {}
void ks_store(const void*, unsigned) {}
void ks_fence(int) {}
void* ks_malloc(size_t bytes) {
    return std::malloc(bytes);
}
void ks_free(void* pointer) {
    std::free(pointer);
}
unsigned ks_lane(void) {
    return 0;
}
[[noreturn]] void ks_refuse(const char*) {
    std::abort();
}
}
