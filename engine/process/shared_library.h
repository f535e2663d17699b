/// Loads a library at run time, if it exists.
#pragma once

#include "analysis/source/error.h"

#include <dlfcn.h>
#include <initializer_list>
#include <string>

namespace kernelskill::engine {

class SharedLibrary {
public:
    /// Loads the first library of `names` (paths, or names that the loader searches). Missing, with
    /// the loader's reason, if none can be loaded. It stays loaded until the process ends.
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

    /// False, without any change, if the library lacks the function.
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
