#include "engine/static_facts/compile_worker.h"

#include "analysis/compile/compute_capability.h"
#include "analysis/compile/nvrtc.h"
#include "engine/process/walls.h"
#include "engine/static_facts/compile_job.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

constexpr rlim_t maxMemoryBytes = 4ULL << 30; // Added to what the process has mapped by then.
constexpr rlim_t maxCpuSeconds = 120; // Longer than the parent's time limit: it ends orphans.
constexpr rlim_t maxFileBytes = 64ULL << 20; // Limits the reply if standard output is a file.

/// Private writable memory of this process, in bytes.
rlim_t mappedData() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmData:"))
            return std::strtoull(line.c_str() + 7, nullptr, 10) * 1024;
    }
    return 0;
}

Result<void> limitThisProcess() {
    const auto limit = [](auto resource, rlim_t value) {
        const rlimit both{value, value};
        return ::setrlimit(resource, &both) == 0;
    };
    const bool limited = limit(RLIMIT_DATA, mappedData() + maxMemoryBytes) &&
                         limit(RLIMIT_CPU, maxCpuSeconds) && limit(RLIMIT_CORE, 0) &&
                         limit(RLIMIT_FSIZE, maxFileBytes) &&
                         ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    if (!limited)
        return std::unexpected(Error{
            ErrorKind::Failed, "the compiler's process cannot be limited", "compile-worker", {}});
    return {};
}

/// Lets this process read what the job needs, and nothing else. It comes after the program's own
/// start, which reads more.
Result<void> wallIn(const CompileJob& job) {
    Walls walls;
    walls.readable = systemFolders();
    const std::filesystem::path library = job.library;
    std::error_code ignored;
    walls.readable.push_back(library.parent_path());
    walls.readable.push_back(std::filesystem::weakly_canonical(library, ignored).parent_path());
    std::vector<std::filesystem::path> included;
    for (const std::string& option : job.request.options) {
        if (option.starts_with("-I"))
            included.emplace_back(option.substr(2));
    }
    for (auto& folder : withoutPrivate(std::move(included)))
        walls.readable.push_back(std::move(folder));
    if (PreparedWalls(walls).putUp())
        return {};
    return std::unexpected(
        Error{ErrorKind::Failed, "the compiler's process cannot be limited", "compile-worker", {}});
}

std::string listed(const std::vector<int>& architectures) {
    std::string text;
    for (const int architecture : architectures)
        text += (text.empty() ? "sm_" : ", sm_") + std::to_string(architecture);
    return text;
}

Result<CompileReply> reply(const std::string& input) {
    if (auto limited = limitThisProcess(); !limited)
        return std::unexpected(limited.error());
    auto job = decodeJob(input);
    if (!job)
        return std::unexpected(job.error());
    if (auto walled = wallIn(*job); !walled)
        return std::unexpected(walled.error());
    const auto nvrtc = analysis::Nvrtc::load(job->library);
    if (!nvrtc)
        return std::unexpected(nvrtc.error());
    const auto capability = analysis::computeCapabilityOf(job->architecture);
    const auto& known = nvrtc->architectures();
    if (!capability ||
        std::ranges::find(known, 10 * capability->major + capability->minor) == known.end())
        return std::unexpected(Error{ErrorKind::Unsupported,
                                     "this CUDA toolkit does not compile for " + job->architecture +
                                         ", but for " + listed(known),
                                     job->library,
                                     "choose another GPU, or install a toolkit for this one"});
    job->request.options.insert(job->request.options.begin(),
                                "--gpu-architecture=" + job->architecture);
    auto outcome = nvrtc->compile(job->request);
    if (!outcome)
        return std::unexpected(outcome.error());
    return CompileReply{
        versionText("NVRTC", nvrtc->version()), outcome->succeeded,        std::move(outcome->log),
        std::move(outcome->loweredNames),       std::move(outcome->cubin), std::move(outcome->ptx)};
}

} // namespace

int runCompileWorker() {
    const std::string input{std::istreambuf_iterator<char>(std::cin), {}};
    const auto text = encodeReply(reply(input));
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
    // Skips NVRTC's clean-up at exit, which takes time.
    ::_exit(0);
}

} // namespace kernelskill::engine
