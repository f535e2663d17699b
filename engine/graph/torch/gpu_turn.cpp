#include "engine/graph/torch/gpu_turn.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/file.h>
#include <system_error>

namespace kernelskill::engine::graph {

std::filesystem::path GpuTurn::fileFor(const std::string& device) {
    if (!device.starts_with("cuda"))
        return {};
    const std::size_t colon = device.find(':');
    const std::string place = colon == std::string::npos ? "0" : device.substr(colon + 1);
    std::string gpu = place;
    if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
        std::string all(visible);
        for (int left = std::atoi(place.c_str()); left > 0 && all.contains(','); --left)
            all.erase(0, all.find(',') + 1);
        gpu = all.substr(0, all.find(','));
    }
    std::erase_if(gpu, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-'; });
    std::error_code error;
    return std::filesystem::temp_directory_path(error) / ("kernelskill-gpu-" + gpu + ".lock");
}

GpuTurn::GpuTurn(const std::string& device) {
    const std::filesystem::path file = fileFor(device);
    if (file.empty())
        return;
    constexpr mode_t everyone = 0666;
    file_ = FileDescriptor(::open(file.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, everyone));
    while (file_.isOpen() && ::flock(file_.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
}

} // namespace kernelskill::engine::graph
