"""The peers of compare_ann.py, run in their virtual environment. `build NAME SET FILE` builds with two threads
and saves; `search NAME SET FILE EFFORT...` loads and searches with one. One JSON line each."""
import json
import os
import sys
import time

import numpy

NEIGHBOURS = 10
BUILD_THREADS = 2


def read_set(path):
    raw = numpy.memmap(path, dtype=numpy.uint8, mode="r")
    count, dimension, queries = (int(value) for value in raw[:12].view(numpy.int32))
    floats = raw[12:12 + 4 * (count + queries) * dimension].view(numpy.float32).reshape(-1, dimension)
    nearest = raw[12 + floats.nbytes:].view(numpy.int32).reshape(queries, NEIGHBOURS)
    return numpy.ascontiguousarray(floats[:count]), numpy.ascontiguousarray(floats[count:]), nearest


def folder_bytes(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(root, name)) for root, _, names in os.walk(path) for name in names)


class Symphony:
    """SymphonyQG of the RaBitQ library, built by PiPNN; bits 0 keeps the raw vectors."""

    def __init__(self, bits):
        self.bits = bits

    def build(self, base, path):
        import rabitqlib
        index = rabitqlib.SymqgIndex(base.shape[1], 32, "ip", self.bits)
        index.build(base, 200, BUILD_THREADS, "pipnn")
        index.save(path)

    def load(self, base, path):
        import rabitqlib
        self.index = rabitqlib.SymqgIndex.load(path)

    def search(self, queries, effort):
        return self.index.search_batch(queries, NEIGHBOURS, effort, 1)[0]


class Hnswlib:
    def build(self, base, path):
        import hnswlib
        index = hnswlib.Index("ip", base.shape[1])
        index.init_index(len(base), M=16, ef_construction=200, random_seed=1)
        index.set_num_threads(BUILD_THREADS)
        index.add_items(base)
        index.save_index(path)

    def load(self, base, path):
        import hnswlib
        self.index = hnswlib.Index("ip", base.shape[1])
        self.index.load_index(path)

    def search(self, queries, effort):
        self.index.set_ef(effort)
        return self.index.knn_query(queries, NEIGHBOURS, num_threads=1)[0]


class Faiss:
    def __init__(self, factory, field):
        self.factory, self.field = factory, field

    def build(self, base, path):
        import faiss
        faiss.omp_set_num_threads(BUILD_THREADS)
        index = faiss.index_factory(base.shape[1], self.factory(base.shape[1]), faiss.METRIC_INNER_PRODUCT)
        if self.field == "efSearch":
            index.hnsw.efConstruction = 200
        index.train(base)
        index.add(base)
        faiss.write_index(index, path)

    def load(self, base, path):
        import faiss
        faiss.omp_set_num_threads(1)
        self.index = faiss.read_index(path)
        if self.field == "nprobe":
            self.index.k_factor = 10

    def search(self, queries, effort):
        import faiss
        faiss.ParameterSpace().set_index_parameter(self.index, self.field, effort)
        return self.index.search(queries, NEIGHBOURS)[1]


class Vamana:
    """Scalable Vector Search: Vamana of degree 32 over LVQ or LeanVec codes."""

    def __init__(self, loader):
        self.loader = loader

    def build(self, base, path):
        import svs
        os.makedirs(path, exist_ok=True)
        plain, vectors = os.path.join(path, "vectors.fvecs"), os.path.join(path, "vectors.svs")
        svs.write_vecs(base, plain)
        svs.convert_vecs_to_svs(plain, vectors, svs.DataType.float32)
        parameters = svs.VamanaBuildParameters(graph_max_degree=32, window_size=200, alpha=0.95)
        data = self.loader(svs, svs.VectorDataLoader(vectors, svs.DataType.float32, dims=base.shape[1]),
                           base.shape[1])
        index = svs.Vamana.build(parameters, data, svs.DistanceType.MIP, num_threads=BUILD_THREADS)
        index.save(*(os.path.join(path, part) for part in ("config", "graph", "data")))
        os.remove(plain)
        os.remove(vectors)

    def load(self, base, path):
        import svs
        stored = svs.LeanVecLoader if "lean" in path else svs.LVQLoader
        self.index = svs.Vamana(os.path.join(path, "config"), svs.GraphLoader(os.path.join(path, "graph")),
                                stored(os.path.join(path, "data")), distance=svs.DistanceType.MIP, num_threads=1)

    def search(self, queries, effort):
        self.index.search_window_size = max(effort, NEIGHBOURS)
        return self.index.search(queries, NEIGHBOURS)[0]


def lvq(primary, residual):
    return Vamana(lambda svs, data, dimension: svs.LVQLoader(data, primary=primary, residual=residual))


def leanvec():
    return Vamana(lambda svs, data, dimension: svs.LeanVecLoader(
        data, leanvec_dims=max(16, dimension // 2 // 16 * 16), primary_kind=svs.LeanVecKind.lvq8,
        secondary_kind=svs.LeanVecKind.lvq8))


PEERS = {
    "symphonyqg": lambda: Symphony(0),
    "symphonyqg-8bit": lambda: Symphony(8),
    "symphonyqg-4bit": lambda: Symphony(4),
    "hnswlib": Hnswlib,
    "faiss-hnsw": lambda: Faiss(lambda dimension: "HNSW16", "efSearch"),
    "faiss-ivf-pq-fastscan": lambda: Faiss(lambda dimension: f"IVF1024,PQ{dimension // 2}x4fs,RFlat", "nprobe"),
    "svs-lvq4x8": lambda: lvq(4, 8),
    "svs-lvq8": lambda: lvq(8, 0),
    "svs-leanvec": leanvec,
}


def clocks():
    return time.perf_counter(), time.process_time()


def main():
    action, name, set_path, path = sys.argv[1:5]
    base, queries, nearest = read_set(set_path)
    peer = PEERS[name]()
    if action == "build":
        wall, cpu = clocks()
        peer.build(base, path)
        wall_end, cpu_end = clocks()
        print(json.dumps({"build_s": wall_end - wall, "build_cpu_s": cpu_end - cpu,
                          "bytes_per_vector": folder_bytes(path) / len(base)}))
        return
    peer.load(base, path)
    for effort in map(int, sys.argv[5:]):
        wall, cpu = clocks()
        found = peer.search(queries, effort)
        wall_end, cpu_end = clocks()
        hits = sum(len(set(map(int, row)) & set(map(int, best))) for row, best in zip(found, nearest))
        recall = hits / nearest.size
        print(json.dumps({"effort": effort, "recall": recall, "qps_cpu": len(queries) / (cpu_end - cpu),
                          "qps_wall": len(queries) / (wall_end - wall)}), flush=True)
        if recall > 0.992:
            break


if __name__ == "__main__":
    main()
