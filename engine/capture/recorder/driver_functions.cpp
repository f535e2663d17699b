#include "engine/capture/recorder/driver_functions.h"

#include <utility>

namespace kernelskill::engine::capture {

#define KERNELSKILL_TEXT_OF(name) #name
#define KERNELSKILL_TEXT(name) KERNELSKILL_TEXT_OF(name)

Result<DriverFunctions> DriverFunctions::load() {
    const auto library = SharedLibrary::open({"libcuda.so.1"});
    if (!library)
        return std::unexpected(library.error());
    DriverFunctions functions;
    const char* missing = nullptr;
#define KERNELSKILL_FIND(name)                                                                     \
    if (!library->find(functions.name, KERNELSKILL_TEXT(name)))                                    \
        missing = KERNELSKILL_TEXT(name);
    KERNELSKILL_CAPTURE_FUNCTIONS(KERNELSKILL_FIND)
#undef KERNELSKILL_FIND
#define KERNELSKILL_FIND(name)                                                                     \
    if (!library->find(functions.name, KERNELSKILL_TEXT(name)))                                    \
        functions.missingForReplay = KERNELSKILL_TEXT(name);
    KERNELSKILL_REPLAY_FUNCTIONS(KERNELSKILL_FIND)
#undef KERNELSKILL_FIND
    // Drivers before CUDA 12.8 have it under its older name alone.
    if (!library->find(functions.cuEventElapsedTime, KERNELSKILL_TEXT(cuEventElapsedTime)) &&
        !library->find(functions.cuEventElapsedTime, "cuEventElapsedTime"))
        functions.missingForReplay = "cuEventElapsedTime";
    if (missing != nullptr)
        return std::unexpected(
            Error{ErrorKind::Missing,
                  std::string("the driver is older than CUDA 12.4: it has no ") + missing,
                  {},
                  {}});
    return functions;
}

Result<DriverFunctions> DriverFunctions::loadAll() {
    auto functions = load();
    if (functions && functions->missingForReplay != nullptr)
        return std::unexpected(
            Error{ErrorKind::Missing,
                  std::string("the driver is too old: it has no ") + functions->missingForReplay,
                  {},
                  {}});
    return functions;
}

Error DriverFunctions::failure(const std::string& step, CUresult status) const {
    const char* name = nullptr;
    const char* text = nullptr;
    std::string what = step;
    if (cuGetErrorName(status, &name) == CUDA_SUCCESS && name != nullptr)
        what += std::string(": ") + name;
    if (cuGetErrorString(status, &text) == CUDA_SUCCESS && text != nullptr)
        what += std::string(" (") + text + ")";
    return {ErrorKind::Failed, std::move(what), {}, {}};
}

} // namespace kernelskill::engine::capture
