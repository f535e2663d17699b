// A program as the CUDA driver would treat it: the library that $CUDA_INJECTION64_PATH names is
// loaded and told to begin. Prints its argument, and ends with the status of its second.
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

int main(int count, char** words) {
    if (const char* path = std::getenv("CUDA_INJECTION64_PATH"); path != nullptr) {
        void* library = ::dlopen(path, RTLD_NOW);
        if (library == nullptr) {
            std::fprintf(stderr, "%s\n", ::dlerror());
            return 99;
        }
        using Initialise = int (*)();
        auto initialise = reinterpret_cast<Initialise>(::dlsym(library, "InitializeInjection"));
        if (initialise == nullptr || initialise() == 0)
            return 98;
    }
    std::printf("%s\n", count > 1 ? words[1] : "");
    return count > 2 ? std::atoi(words[2]) : 0;
}
