# Two images: `site` (web, worker, sweep; no bcc, no root) and `tracer` (what a traced host runs).

FROM debian:12-slim AS base
RUN apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends python3 python3-venv \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /srv/memflame
RUN /usr/bin/python3 -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1

FROM base AS site
COPY requirements/site.txt requirements/site.txt
RUN pip install --no-cache-dir --require-hashes -r requirements/site.txt
COPY manage.py ./
COPY webapp webapp
COPY tracer tracer
COPY frontend frontend
RUN useradd --system --uid 10001 memflame \
 && install -d -o memflame /data \
 && MEMFLAME_DATA=/tmp/build python manage.py collectstatic --no-input -v 0 \
 && install -d /opt/static && cp -a /tmp/build/static/. /opt/static/ && rm -r /tmp/build
ENV MEMFLAME_DATA=/data MEMFLAME_STATIC=/opt/static
USER memflame
EXPOSE 8000
CMD ["python", "-m", "uvicorn", "webapp.asgi:application", "--host", "0.0.0.0", "--port", "8000", "--no-server-header", "--ws-max-size", "65536"]

FROM base AS tracer
RUN apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends python3-bpfcc libdw1 \
 && rm -rf /var/lib/apt/lists/* \
 && ln -s /usr/lib/python3/dist-packages/bcc "$(echo /opt/venv/lib/python3.*/site-packages)/bcc"
COPY requirements/agent.txt requirements/agent.txt
RUN pip install --no-cache-dir --require-hashes -r requirements/agent.txt
COPY tracer tracer
RUN pip install --no-cache-dir --no-deps --no-build-isolation ./tracer
CMD ["memflame", "agent", "--help"]
