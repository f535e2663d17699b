/// CUPTI's callbacks, loaded at run time: how a recorder hears of the program's driver calls.
#pragma once

#include "analysis/source/error.h"
#include "engine/process/shared_library.h"

#include <cupti_callbacks.h>
#include <string>

namespace kernelskill::engine::capture {

#define KERNELSKILL_CALLBACK_FUNCTIONS(X)                                                          \
    X(cuptiSubscribe)                                                                              \
    X(cuptiEnableCallback)                                                                         \
    X(cuptiEnableDomain)                                                                           \
    X(cuptiGetResultString)

struct CallbackApi {
// NOLINTNEXTLINE(bugprone-macro-parentheses): it declares what it is given
#define KERNELSKILL_MEMBER(name) decltype(&::name) name = nullptr;
    KERNELSKILL_CALLBACK_FUNCTIONS(KERNELSKILL_MEMBER)
#undef KERNELSKILL_MEMBER

    /// Loads the library at `path`, or the one that the loader finds if it is empty. Missing if
    /// there is none, or if it is too old.
    [[nodiscard]] static Result<CallbackApi> load(const std::string& path);

    /// An error if `status` is one.
    [[nodiscard]] Result<void> check(CUptiResult status) const;
    /// Subscribes `callback`, which CUPTI calls with `user` for what is enabled later.
    [[nodiscard]] Result<CUpti_SubscriberHandle> subscribe(CUpti_CallbackFunc callback,
                                                           void* user) const;
};

/// Whether the driver function with this callback identifier ends a context, and its memory with
/// it.
[[nodiscard]] bool endsContext(CUpti_CallbackId function);

} // namespace kernelskill::engine::capture
