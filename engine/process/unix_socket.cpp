#include "engine/process/unix_socket.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>

namespace kernelskill::engine {
namespace {

/// Opens a socket and hands it to `use` with the address, as ::bind() and ::connect() take them.
template <typename Use>
FileDescriptor socketAt(const std::string& path, const Use& use) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return {};
    }
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket.isOpen() ||
        use(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        const int reason = errno;
        socket.close(); // It may set errno.
        errno = reason;
    }
    return socket;
}

} // namespace

FileDescriptor listeningSocket(const std::string& path) {
    return socketAt(path, [](int socket, const sockaddr* address, socklen_t bytes) {
        return ::bind(socket, address, bytes) == 0 ? ::listen(socket, 1) : -1;
    });
}

FileDescriptor connectedSocket(const std::string& path) {
    return socketAt(path, ::connect);
}

} // namespace kernelskill::engine
