/// What the server and `kernelskill compile-worker` tell each other: jobs as JSON, replies as CBOR.
#pragma once

#include "analysis/compile/nvrtc.h"
#include "analysis/source/error.h"

#include <string>
#include <string_view>

namespace kernelskill::engine {

struct CompileJob {
    std::string library;      ///< Path of NVRTC.
    std::string architecture; ///< "sm_90"
    analysis::DeviceCompileRequest request;
};

struct CompileReply {
    std::string compiler; ///< "NVRTC 13.0"
    bool succeeded = false;
    std::string log;
    std::vector<std::string> loweredNames; ///< Of the kernel; empty where the compiler tells none.
    std::string cubin = {};                ///< ELF, with line tables; empty unless it succeeded.
    std::string ptx = {};                  ///< What the cubin was assembled from.
};

/// "NVRTC 13.0" for 13000.
[[nodiscard]] std::string versionText(std::string_view compiler, int version);

/// Bytes that are not UTF-8, which only comments and strings of a user's file hold, are replaced.
[[nodiscard]] std::string encodeJob(const CompileJob& job);
/// Internal when it is not what encodeJob made.
[[nodiscard]] Result<CompileJob> decodeJob(std::string_view text);
[[nodiscard]] std::string encodeReply(const Result<CompileReply>& reply);
/// The reply, or the error that it holds; Failed when it is neither.
[[nodiscard]] Result<CompileReply> decodeReply(std::string_view text);

} // namespace kernelskill::engine
