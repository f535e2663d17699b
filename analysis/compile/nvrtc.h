/// NVIDIA's run-time compiler, loaded where a toolkit is found; nothing links against it.
/// It is foreign code that reads untrusted text: use it in a process that may die.
#pragma once

#include "analysis/command/toolchain.h"
#include "analysis/source/error.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace kernelskill::analysis {

/// The newest libnvrtc.so of the toolkit. Missing, with the remedy, when it has none.
[[nodiscard]] Result<std::filesystem::path> findNvrtc(const CudaToolkit& toolkit);

/// A header that exists in memory only.
struct VirtualHeader {
    std::string name; ///< As an #include spells it, without delimiters.
    std::string text;
};

struct DeviceCompileRequest {
    std::string file; ///< The name that messages use.
    std::string source;
    std::vector<VirtualHeader> headers;
    std::vector<std::string> options;         ///< As NVRTC takes them.
    std::vector<std::string> nameExpressions; ///< "ns::kernel<float, 4>": instantiated and kept.
};

struct DeviceCompileOutcome {
    bool succeeded = false;
    std::string log;                       ///< The compiler's messages, then those of ptxas.
    std::vector<std::string> loweredNames; ///< One per name expression, once it succeeded.
    std::string ptx;                       ///< What the cubin was assembled from.
    std::string cubin; ///< ELF; empty unless the options name a real architecture ("sm_90").
};

class Nvrtc {
public:
    /// Missing when the library cannot be loaded or is too old to make cubins (CUDA 11.1).
    [[nodiscard]] static Result<Nvrtc> load(const std::filesystem::path& library);
    Nvrtc(Nvrtc&&) noexcept;
    Nvrtc& operator=(Nvrtc&&) noexcept;
    ~Nvrtc();

    [[nodiscard]] int version() const; ///< 13000 for 13.0.
    /// 75, 80, …: of real architectures that it compiles for.
    [[nodiscard]] const std::vector<int>& architectures() const;
    /// A program that does not compile is an outcome; Failed is for NVRTC's own failures (an option
    /// it does not know, no memory).
    [[nodiscard]] Result<DeviceCompileOutcome> compile(const DeviceCompileRequest& request) const;

private:
    struct Library;
    explicit Nvrtc(std::unique_ptr<Library> library);
    std::unique_ptr<Library> library_;
};

} // namespace kernelskill::analysis
