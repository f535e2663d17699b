/// The messages between the server and `kernelskill compile-worker`: jobs as JSON, replies as CBOR.
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
    /// Mangled names of the kernel; empty if the compiler does not tell them.
    std::vector<std::string> loweredNames;
    std::string cubin = {}; ///< ELF with line tables; empty if the compilation failed.
    std::string ptx = {};   ///< The PTX that the cubin was assembled from.
};

/// "NVRTC 13.0" for 13000.
[[nodiscard]] std::string versionText(std::string_view compiler, int version);

/// Invalid UTF-8, which only comments and strings of a user's file can contain, is replaced.
[[nodiscard]] std::string encodeJob(const CompileJob& job);
/// Internal if `text` was not made by encodeJob().
[[nodiscard]] Result<CompileJob> decodeJob(std::string_view text);
[[nodiscard]] std::string encodeReply(const Result<CompileReply>& reply);
/// The reply, or the error in it; Failed if it is neither.
[[nodiscard]] Result<CompileReply> decodeReply(std::string_view text);

} // namespace kernelskill::engine
