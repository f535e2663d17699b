/// NVIDIA's run-time compiler, loaded if there is a toolkit; nothing links to it. It is third-party
/// code that reads untrusted text: use it only in a process that may die.
#pragma once

#include "analysis/command/toolchain.h"
#include "analysis/source/error.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace kernelskill::analysis {

/// The newest libnvrtc.so of the toolkit. Missing, with a remedy, if there is none.
[[nodiscard]] Result<std::filesystem::path> findNvrtc(const CudaToolkit& toolkit);

/// A header that exists only in memory.
struct VirtualHeader {
    std::string name; ///< As in an #include, without delimiters.
    std::string text;
};

struct DeviceCompileRequest {
    std::string file; ///< The file's name in messages.
    std::string source;
    std::vector<VirtualHeader> headers;
    std::vector<std::string> options;         ///< In NVRTC's spelling.
    std::vector<std::string> nameExpressions; ///< "ns::kernel<float, 4>": instantiated and kept.
};

struct DeviceCompileOutcome {
    bool succeeded = false;
    std::string log;                       ///< Messages of the compiler, then those of ptxas.
    std::vector<std::string> loweredNames; ///< One for each name expression, if it succeeded.
    std::string ptx;                       ///< The PTX that the cubin was assembled from.
    std::string cubin; ///< ELF; empty unless the options name a real architecture ("sm_90").
};

class Nvrtc {
public:
    /// Missing if the library cannot be loaded or is too old to make cubins (before CUDA 11.1).
    [[nodiscard]] static Result<Nvrtc> load(const std::filesystem::path& library);
    Nvrtc(Nvrtc&&) noexcept;
    Nvrtc& operator=(Nvrtc&&) noexcept;
    ~Nvrtc();

    [[nodiscard]] int version() const; ///< 13000 for 13.0.
    /// The real architectures that it can compile for: 75, 80, …
    [[nodiscard]] const std::vector<int>& architectures() const;
    /// A program that does not compile is a normal outcome. Failed means a failure of NVRTC itself
    /// (an unknown option, no memory).
    [[nodiscard]] Result<DeviceCompileOutcome> compile(const DeviceCompileRequest& request) const;

private:
    struct Library;
    explicit Nvrtc(std::unique_ptr<Library> library);
    std::unique_ptr<Library> library_;
};

} // namespace kernelskill::analysis
