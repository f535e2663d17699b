/// A library that is loaded at run time, if it is there.
#pragma once

#include "analysis/source/error.h"

#include <dlfcn.h>
#include <initializer_list>
#include <string>

namespace kernelskill::engine {

class SharedLibrary {
public:
    /// The first of `names` (paths, or what the loader searches for) that can be loaded. Missing,
    /// with the loader's reason, when none can. It stays loaded until the process ends.
    [[nodiscard]] static Result<SharedLibrary> open(std::initializer_list<std::string> names) {
        std::string reason;
        for (const std::string& name : names) {
            if (name.empty())
                continue;
            if (void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE))
                return SharedLibrary(handle);
            if (const char* text = ::dlerror(); text != nullptr)
                reason += (reason.empty() ? "" : "; ") + std::string(text);
        }
        return std::unexpected(Error{ErrorKind::Missing, reason, {}, {}});
    }

    /// False, and nothing changed, when the library has no such function.
    template <typename Function>
    bool find(Function& function, const char* name) const {
        void* address = ::dlsym(handle_, name);
        if (address == nullptr)
            return false;
        function = reinterpret_cast<Function>(address);
        return true;
    }

private:
    explicit SharedLibrary(void* handle) : handle_(handle) {}
    void* handle_;
};

} // namespace kernelskill::engine
