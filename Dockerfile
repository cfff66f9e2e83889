# The dashboard on the shipped data. Build: docker build -t biasret .   Run: docker run -p 8501:8501 biasret
FROM python:3.11-slim

ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    OMP_WAIT_POLICY=PASSIVE \
    HF_HUB_OFFLINE=1

RUN useradd --create-home --uid 1000 biasret
WORKDIR /home/biasret/app

# Torch's default build for Linux brings gigabytes of GPU libraries. Name PyTorch's index of CPU
# builds for a small image: docker build --build-arg PIP_EXTRA_INDEX_URL=... -t biasret .
ARG PIP_EXTRA_INDEX_URL
COPY requirements.txt .
RUN pip install --no-cache-dir -r requirements.txt

COPY --chown=biasret:biasret . .
RUN chown biasret:biasret .
USER biasret

# The store is made now, so that the first visitor does not wait for it.
RUN python -m biasret build

EXPOSE 8501
# Any path answers 200 with the page, so the body is what tells.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD \
    python -c "import urllib.request as r, sys; sys.exit(r.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4).read() != b'ok')"

CMD ["streamlit", "run", "app.py", "--server.address", "0.0.0.0", "--server.port", "8501"]
