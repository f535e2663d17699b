#include "engine/replay/recorder/kernel_run.h"

#include "engine/execution/gpu/runner/kernel_fault.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace kernelskill::engine::replay {
namespace {

constexpr std::uint64_t sharedWithoutAsking = 48ull << 10;

} // namespace

std::vector<std::uint64_t> KernelRun::words() const {
    std::vector<std::uint64_t> words;
    for (const auto& value : values) {
        for (std::size_t at = 0; at + sizeof(std::uint64_t) <= value.size();
             at += sizeof(std::uint64_t))
            std::memcpy(&words.emplace_back(), value.data() + at, sizeof(std::uint64_t));
    }
    return words;
}

Result<void> KernelRun::launch(const DeviceWork& work) const {
    std::vector<void*> parameters;
    for (const auto& value : values)
        parameters.push_back(const_cast<std::byte*>(value.data()));
    auto given = attributes;
    CUlaunchConfig config{};
    config.gridDimX = grid[0];
    config.gridDimY = grid[1];
    config.gridDimZ = grid[2];
    config.blockDimX = block[0];
    config.blockDimY = block[1];
    config.blockDimZ = block[2];
    config.sharedMemBytes = sharedBytes;
    config.hStream = work.stream();
    config.attrs = given.data();
    config.numAttrs = static_cast<unsigned>(given.size());
    const auto& driver = work.driver();
    const auto status = driver.cuLaunchKernelEx(&config, function, parameters.data(), nullptr);
    if (status == CUDA_SUCCESS)
        return {};
    auto error = driver.failure("the driver does not launch it", status);
    if (!gpu::isSticky(status)) {
        error.kind = ErrorKind::InvalidInput;
        error.remedy = "look at the size of the block and its shared memory";
    }
    return std::unexpected(std::move(error));
}

Result<void> checkCalls(const CubinSymbols& symbols, const std::string& kernel) {
    const auto found = symbols.kernels.find(kernel);
    if (found == symbols.kernels.end())
        return {};
    for (const std::string& called : found->second) {
        if (called == "__assertfail")
            continue; // It ends the kernel.
        const std::string name = called == "vprintf" ? "printf" : called;
        return std::unexpected(
            Error{ErrorKind::Unsupported,
                  "the kernel calls " + name + "() on the device, which a trial cannot undo",
                  {},
                  {}});
    }
    return {};
}

Result<std::unique_ptr<LoadedCandidate>>
LoadedCandidate::load(const DriverFunctions& driver, const DeviceWork& work,
                      const ReplayCandidate& candidate, const KernelRun& original, CUfunction held,
                      const CubinSymbols& module) {
    const auto symbols = cubinSymbols(std::as_bytes(std::span(candidate.cubin)));
    if (!symbols)
        return std::unexpected(symbols.error());
    if (auto fine = checkCalls(*symbols, candidate.symbol); !fine)
        return std::unexpected(fine.error());
    CUmodule loaded = nullptr;
    if (const auto status = driver.cuModuleLoadData(&loaded, candidate.cubin.c_str());
        status != CUDA_SUCCESS) {
        auto error = driver.failure("the driver does not load the candidate", status);
        error.kind = ErrorKind::InvalidInput;
        return std::unexpected(std::move(error));
    }
    std::unique_ptr<LoadedCandidate> result(new LoadedCandidate(driver, work));
    result->module_ = loaded;
    result->run_ = original;
    if (auto done = result->prepare(candidate, held); !done)
        return std::unexpected(done.error());
    result->findVariables(*symbols, module);
    return result;
}

Result<void> LoadedCandidate::prepare(const ReplayCandidate& candidate, CUfunction held) {
    const auto invalid = [](std::string what) {
        return std::unexpected(Error{ErrorKind::InvalidInput, std::move(what), {}, {}});
    };
    if (driver_.cuModuleGetFunction(&run_.function, module_, candidate.symbol.c_str()) !=
        CUDA_SUCCESS)
        return invalid("the candidate has no kernel '" + candidate.symbol + "'");
    run_.grid = candidate.grid;
    run_.block = candidate.block;
    run_.sharedBytes = static_cast<unsigned>(candidate.sharedBytes);
    for (const std::vector<std::uint8_t>& value : candidate.added) {
        const auto bytes = std::as_bytes(std::span(value));
        run_.values.emplace_back(bytes.begin(), bytes.end());
    }
    std::size_t offset = 0;
    std::size_t bytes = 0;
    std::size_t count = 0;
    while (driver_.cuFuncGetParamInfo(run_.function, count, &offset, &bytes) == CUDA_SUCCESS) {
        if (count >= run_.values.size() || run_.values[count].size() != bytes)
            return invalid("the candidate takes other parameters than the launch passes");
        ++count;
    }
    if (count != run_.values.size())
        return invalid("the candidate takes " + std::to_string(count) +
                       " parameters, and the launch passes " + std::to_string(run_.values.size()));
    // The program may have asked for a split of the cache, and for clusters of another size.
    for (const auto attribute : {CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                                 CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED}) {
        int value = 0;
        if (driver_.cuFuncGetAttribute(&value, attribute, held) == CUDA_SUCCESS)
            static_cast<void>(driver_.cuFuncSetAttribute(run_.function, attribute, value));
    }
    if (candidate.sharedBytes <= sharedWithoutAsking)
        return {};
    if (driver_.cuFuncSetAttribute(run_.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                   static_cast<int>(candidate.sharedBytes)) != CUDA_SUCCESS)
        return invalid("the GPU does not give a block " + std::to_string(candidate.sharedBytes) +
                       " bytes of dynamic shared memory");
    return {};
}

void LoadedCandidate::findVariables(const CubinSymbols& own, const CubinSymbols& module) {
    for (const CubinVariable& variable : own.variables) {
        CUdeviceptr address = 0;
        std::size_t bytes = 0;
        if (driver_.cuModuleGetGlobal(&address, &bytes, module_, variable.name.c_str()) !=
            CUDA_SUCCESS)
            continue; // A text of the compiler's.
        const auto same = std::ranges::find_if(module.variables, [&](const CubinVariable& each) {
            return each.name == variable.name && each.bytes == bytes;
        });
        if (same != module.variables.end())
            variables_.emplace(variable.name, address);
        else
            notes_.push_back("the program's module has no variable '" + variable.name +
                             "' of that size: the candidate's has the value of its text");
    }
}

} // namespace kernelskill::engine::replay
