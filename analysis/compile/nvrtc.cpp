#include "analysis/compile/nvrtc.h"

#include <algorithm>
#include <dlfcn.h>
#include <system_error>
#include <utility>

namespace kernelskill::analysis {
namespace {

namespace fs = std::filesystem;

// The used part of NVRTC's C interface, which has not changed since CUDA 11.1.
using Program = void*;
constexpr int success = 0;
constexpr int compilationFailed = 6; // NVRTC_ERROR_COMPILATION

std::vector<const char*> pointersTo(const std::vector<std::string>& strings) {
    std::vector<const char*> pointers;
    pointers.reserve(strings.size());
    for (const auto& string : strings)
        pointers.push_back(string.c_str());
    return pointers;
}

Error unusable(std::string what, const fs::path& library) {
    return {ErrorKind::Missing, std::move(what), library.string(),
            "install NVRTC of CUDA 11.1 or newer (package cuda-nvrtc), or set the CUDA path"};
}

/// Accepts `libnvrtc.so.13` as well as `libnvrtc.so`, which only developers' packages contain.
bool isLibrary(const fs::path& path) {
    const auto name = path.filename().string();
    return name == "libnvrtc.so" || name.starts_with("libnvrtc.so.");
}

} // namespace

Result<fs::path> findNvrtc(const CudaToolkit& toolkit) {
    std::vector<fs::path> folders = {toolkit.root / "lib64", toolkit.root / "lib"};
    std::error_code error;
    for (fs::directory_iterator item(toolkit.root / "targets", error), end; !error && item != end;
         item.increment(error))
        folders.push_back(item->path() / "lib");
    for (const auto& folder : folders) {
        std::vector<fs::path> found;
        for (fs::directory_iterator item(folder, error), end; !error && item != end;
             item.increment(error)) {
            std::error_code ignored;
            if (isLibrary(item->path()) && fs::exists(item->path(), ignored))
                found.push_back(item->path());
        }
        if (!found.empty())
            return std::ranges::min(found); // The shortest name links to the newest version.
    }
    return std::unexpected(unusable("the CUDA toolkit has no NVRTC", toolkit.root));
}

struct Nvrtc::Library {
    fs::path path;
    void* handle = nullptr;
    int version = 0;
    std::vector<int> architectures;

    int (*getVersion)(int*, int*) = nullptr;
    int (*getNumSupportedArchs)(int*) = nullptr;
    int (*getSupportedArchs)(int*) = nullptr;
    const char* (*getErrorString)(int) = nullptr;
    int (*createProgram)(Program*, const char*, const char*, int, const char* const*,
                         const char* const*) = nullptr;
    int (*destroyProgram)(Program*) = nullptr;
    int (*compileProgram)(Program, int, const char* const*) = nullptr;
    int (*addNameExpression)(Program, const char*) = nullptr;
    int (*getLoweredName)(Program, const char*, const char**) = nullptr;
    int (*getLogSize)(Program, std::size_t*) = nullptr;
    int (*getLog)(Program, char*) = nullptr;
    int (*getPtxSize)(Program, std::size_t*) = nullptr;
    int (*getPtx)(Program, char*) = nullptr;
    int (*getCubinSize)(Program, std::size_t*) = nullptr;
    int (*getCubin)(Program, char*) = nullptr;

    Library() = default;
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
    ~Library() {
        if (handle != nullptr)
            ::dlclose(handle);
    }

    template <typename Function>
    bool find(Function& function, const char* name) const {
        function = reinterpret_cast<Function>(::dlsym(handle, name));
        return function != nullptr;
    }

    bool findAll() {
        return find(getVersion, "nvrtcVersion") &&
               find(getNumSupportedArchs, "nvrtcGetNumSupportedArchs") &&
               find(getSupportedArchs, "nvrtcGetSupportedArchs") &&
               find(getErrorString, "nvrtcGetErrorString") &&
               find(createProgram, "nvrtcCreateProgram") &&
               find(destroyProgram, "nvrtcDestroyProgram") &&
               find(compileProgram, "nvrtcCompileProgram") &&
               find(addNameExpression, "nvrtcAddNameExpression") &&
               find(getLoweredName, "nvrtcGetLoweredName") &&
               find(getLogSize, "nvrtcGetProgramLogSize") && find(getLog, "nvrtcGetProgramLog") &&
               find(getPtxSize, "nvrtcGetPTXSize") && find(getPtx, "nvrtcGetPTX") &&
               find(getCubinSize, "nvrtcGetCUBINSize") && find(getCubin, "nvrtcGetCUBIN");
    }

    void readProperties() {
        int major = 0;
        int minor = 0;
        if (getVersion(&major, &minor) == success)
            version = 1000 * major + 10 * minor;
        int count = 0;
        if (getNumSupportedArchs(&count) == success && count > 0) {
            architectures.resize(static_cast<std::size_t>(count));
            if (getSupportedArchs(architectures.data()) != success)
                architectures.clear();
        }
    }

    Error failure(const char* step, int status) const {
        return {ErrorKind::Failed,
                std::string("NVRTC: ") + step + ": " + getErrorString(status),
                path.string(),
                {}};
    }
};

Nvrtc::Nvrtc(std::unique_ptr<Library> library) : library_(std::move(library)) {}
Nvrtc::Nvrtc(Nvrtc&&) noexcept = default;
Nvrtc& Nvrtc::operator=(Nvrtc&&) noexcept = default;
Nvrtc::~Nvrtc() = default;

Result<Nvrtc> Nvrtc::load(const fs::path& path) {
    auto library = std::make_unique<Library>();
    library->path = path;
    // NVRTC keeps memory until the process ends, which unmapping would lose.
    library->handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library->handle == nullptr) {
        const char* reason = ::dlerror();
        return std::unexpected(
            unusable(std::string("NVRTC cannot be loaded: ") + (reason ? reason : ""), path));
    }
    if (!library->findAll())
        return std::unexpected(unusable("this NVRTC is too old", path));
    library->readProperties();
    return Nvrtc(std::move(library));
}

int Nvrtc::version() const {
    return library_->version;
}
const std::vector<int>& Nvrtc::architectures() const {
    return library_->architectures;
}

Result<DeviceCompileOutcome> Nvrtc::compile(const DeviceCompileRequest& request) const {
    const auto& nvrtc = *library_;
    std::vector<const char*> headerTexts;
    std::vector<const char*> headerNames;
    for (const auto& header : request.headers) {
        headerTexts.push_back(header.text.c_str());
        headerNames.push_back(header.name.c_str());
    }
    Program program = nullptr;
    if (const int status = nvrtc.createProgram(
            &program, request.source.c_str(), request.file.c_str(),
            static_cast<int>(headerTexts.size()), headerTexts.data(), headerNames.data());
        status != success)
        return std::unexpected(nvrtc.failure("no program", status));
    const auto destroy = [&](Program* handle) { nvrtc.destroyProgram(handle); };
    const std::unique_ptr<Program, decltype(destroy)> owner(&program, destroy);

    for (const auto& name : request.nameExpressions) {
        if (const int status = nvrtc.addNameExpression(program, name.c_str()); status != success)
            return std::unexpected(nvrtc.failure("the kernel's name is refused", status));
    }
    const auto options = pointersTo(request.options);
    const int compiled =
        nvrtc.compileProgram(program, static_cast<int>(options.size()), options.data());

    DeviceCompileOutcome outcome;
    outcome.succeeded = compiled == success;
    std::size_t size = 0;
    if (nvrtc.getLogSize(program, &size) == success && size > 1) {
        outcome.log.resize(size); // It has one or more terminating zeros.
        nvrtc.getLog(program, outcome.log.data());
        outcome.log.resize(outcome.log.find_last_not_of('\0') + 1);
    }
    if (compiled != success && compiled != compilationFailed) {
        auto error = nvrtc.failure("the compiler failed", compiled);
        if (!outcome.log.empty())
            error.what += ": " + outcome.log;
        return std::unexpected(std::move(error));
    }
    if (!outcome.succeeded)
        return outcome;
    for (const auto& name : request.nameExpressions) {
        const char* lowered = nullptr;
        const int status = nvrtc.getLoweredName(program, name.c_str(), &lowered);
        if (status != success || lowered == nullptr)
            return std::unexpected(nvrtc.failure("the kernel has no symbol", status));
        outcome.loweredNames.emplace_back(lowered);
    }
    if (nvrtc.getPtxSize(program, &size) == success && size > 1) {
        outcome.ptx.resize(size); // It has a terminating zero.
        if (const int status = nvrtc.getPtx(program, outcome.ptx.data()); status != success)
            return std::unexpected(nvrtc.failure("no PTX", status));
        outcome.ptx.resize(outcome.ptx.find_last_not_of('\0') + 1);
    }
    if (nvrtc.getCubinSize(program, &size) == success && size > 0) {
        outcome.cubin.resize(size);
        if (const int status = nvrtc.getCubin(program, outcome.cubin.data()); status != success)
            return std::unexpected(nvrtc.failure("no cubin", status));
    }
    return outcome;
}

} // namespace kernelskill::analysis
